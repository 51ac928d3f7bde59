"""experiments/cell.py: when the results of a cell count."""

import contextlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline import identity
from pipeline.config_file import dump_config, load_config
from pipeline.layout import CELL_RESULTS
from pipeline.output_folder import OutputFolder
from schemas.errors import DataError
from smooth_clir.experiments.cell import Cell, CellFolder
from smooth_clir.experiments.grid import PlannedCell


@pytest.fixture
def folder(config_file: Path, tmp_path: Path) -> CellFolder:
    """The folder of a cell that has begun."""
    folder = CellFolder(tmp_path, PlannedCell("sosl", {"loss.kind": "sosl"}, load_config(str(config_file)), None))
    folder.begin()
    return folder


def complete(folder: CellFolder, source: Path) -> Cell:
    """Leaves what a run leaves."""
    assert folder.cell.config is not None
    output = OutputFolder(folder.path, "cell")
    output.write("config.yaml", dump_config(folder.cell.config))
    source.write_text("{}")
    output.publish(dict.fromkeys(CELL_RESULTS[1:], source), keep=output.files)
    state = Cell("sosl", {"loss.kind": "sosl"}, "done", None, 3.5, 2**30)
    folder.finish(state)
    return state


def test_a_cell_is_done_once_it_is_said_so(folder: CellFolder, tmp_path: Path) -> None:
    assert folder.state().status == "waiting"
    assert complete(folder, tmp_path / "source") == folder.state()
    assert json.loads((folder.path / "cell.json").read_text()) == {
        "name": "sosl", "settings": {"loss.kind": "sosl"}, "status": "done", "reason": None, "seconds": 3.5,
        "peak_memory_bytes": 2**30,
    }  # fmt: skip


@pytest.mark.parametrize("renames", [1, 2, 3])
def test_a_cell_that_its_file_calls_done_is_done_wherever_a_kill_fell(
    folder: CellFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    state = complete(folder, tmp_path / "source")
    folder.finish(replace(state, status="waiting"))
    made: list[str] = []

    def killed_after_renames(source: str, target: str) -> None:
        if len(made) == renames:
            raise KeyboardInterrupt
        made.append(target)
        rename(source, target)

    rename = os.replace
    monkeypatch.setattr(os, "replace", killed_after_renames)
    with contextlib.suppress(KeyboardInterrupt):
        folder.finish(state)
    monkeypatch.undo()
    status = json.loads((folder.path / "cell.json").read_text())["status"]
    assert folder.state().status == status == ("waiting" if renames < 2 else "done")


def test_a_cell_that_lost_a_file_or_whose_file_changed_is_not_done(folder: CellFolder, tmp_path: Path) -> None:
    complete(folder, tmp_path / "source")
    for name in ("cell.json", "metrics.json", "per_query.tsv", "run.trec", "config.yaml", "inputs.sha256"):
        content = (folder.path / name).read_bytes()
        (folder.path / name).unlink()
        assert folder.state().status == "waiting", name
        (folder.path / name).write_bytes(content)
        assert folder.state().status == "done", name
    (folder.path / "metrics.json").write_text("[]")  # as long as before
    assert folder.state().status == "waiting"
    (folder.path / "metrics.json").write_text("{}")
    (folder.path / "cell.json").write_text('{"name": "so')
    assert folder.state().status == "waiting"


def test_a_cell_that_begins_again_keeps_the_user_s_notes_and_no_results(folder: CellFolder, tmp_path: Path) -> None:
    complete(folder, tmp_path / "source")
    (folder.path / "notes.txt").write_text("theirs")
    assert folder.state().status == "done"
    folder.begin()
    assert (folder.path / "notes.txt").read_text() == "theirs"
    kept = {".clir.json", "cell.json", "inputs.sha256", "log.txt", "notes.txt"}
    assert {path.name for path in folder.path.iterdir()} == kept
    assert folder.state().status == "waiting"


def test_a_folder_of_the_user_s_with_a_cell_s_name_is_refused(folder: CellFolder, tmp_path: Path) -> None:
    (tmp_path / "cells" / "mse").mkdir()
    (tmp_path / "cells" / "mse" / "notes.txt").write_text("theirs")
    with pytest.raises(DataError, match=str(tmp_path / "cells" / "mse")):
        CellFolder(tmp_path, replace(folder.cell, name="mse"))


def test_other_settings_inputs_code_or_libraries_make_a_cell_wait(
    folder: CellFolder, config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete(folder, tmp_path / "source")

    def status_with(override: str) -> str:
        cell = replace(folder.cell, config=load_config(str(config_file), [override]))
        return CellFolder(tmp_path, cell).state().status

    assert status_with("training.epochs=7") == status_with("data.sha256.queries=0f") == "waiting"
    assert status_with("output=elsewhere") == "done"
    version = identity.version
    for target, name, value in (
        (identity, "_ROOT", tmp_path),
        (identity.platform, "python_version", lambda: "3.99"),
        (identity, "version", lambda library: "99" if library == "tensorflow" else version(library)),
        (identity, "version", lambda library: "99" if library == "numpy" else version(library)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(target, name, value)
            assert folder.state().status == "waiting"
    assert folder.state().status == "done"
