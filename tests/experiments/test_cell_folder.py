"""experiments/cell_folder.py: when the results of a cell count."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.cell import Cell
from experiments.cell_folder import CellFolder
from experiments.grid import PlannedCell
from pipeline import fingerprint
from pipeline.config import dump_config, load_config


@pytest.fixture
def folder(config_file: Path, tmp_path: Path) -> CellFolder:
    """The folder of a cell that has begun."""
    folder = CellFolder(tmp_path, PlannedCell("sosl", {"loss.name": "sosl"}, load_config(str(config_file)), None))
    folder.begin()
    return folder


def complete(folder: CellFolder) -> Cell:
    """Leaves what a run leaves."""
    assert folder.cell.config is not None
    (folder.path / "config.yaml").write_text(dump_config(folder.cell.config))
    names = {
        "evaluation": ["metrics.json", "run.trec", "qrels.trec"],
        "training": ["training.json", "stability.json"],
        "data": ["report.json"],
    }
    for place, name in ((place, name) for place, some in names.items() for name in some):
        (folder.path / place).mkdir(exist_ok=True)
        (folder.path / place / name).write_text("{}")
    folder.gather()
    state = Cell("sosl", {"loss.name": "sosl"}, "done", None, 3.5, 2**30)
    folder.finish(state)
    return state


def test_a_cell_is_done_once_it_is_said_so(folder: CellFolder) -> None:
    assert folder.state().status == "waiting"
    assert complete(folder) == folder.state()
    assert json.loads((folder.path / "cell.json").read_text()) == {
        "name": "sosl", "settings": {"loss.name": "sosl"}, "status": "done", "reason": None, "seconds": 3.5,
        "peak_memory_bytes": 2**30,
    }  # fmt: skip


def test_results_lie_side_by_side(folder: CellFolder) -> None:
    complete(folder)
    assert {path.name for path in folder.path.iterdir()} == {
        "cell.json", "config.yaml", "inputs.sha256", "metrics.json", "qrels.trec", "run.trec",
        "stability.json", "training.json",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["cell.json", "metrics.json", "run.trec", "config.yaml", "inputs.sha256"])
def test_a_cell_that_lost_a_file_is_not_done(folder: CellFolder, name: str) -> None:
    complete(folder)
    (folder.path / name).unlink()
    assert folder.state().status == "waiting"


def test_a_damaged_state_is_none(folder: CellFolder) -> None:
    complete(folder)
    (folder.path / "cell.json").write_text('{"name": "so')
    assert folder.state().status == "waiting"


def test_other_settings_inputs_or_code_make_a_cell_wait(
    folder: CellFolder, config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete(folder)
    for override in ("training.epochs=7", "data.sha256.queries=0f"):
        other = replace(folder.cell, config=load_config(str(config_file), [override]))
        assert CellFolder(tmp_path, other).state().status == "waiting"
    elsewhere = replace(folder.cell, config=load_config(str(config_file), ["output=elsewhere"]))
    assert CellFolder(tmp_path, elsewhere).state().status == "done"
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    assert folder.state().status == "waiting"


def test_a_cell_that_begins_anew_keeps_no_results(folder: CellFolder) -> None:
    complete(folder)
    folder.begin()
    assert {path.name for path in folder.path.iterdir()} == {"cell.json", "inputs.sha256"}
    assert folder.state().status == "waiting"
