"""cli/experiment.py: a line a cell."""

import tempfile
from pathlib import Path

import pytest

from models.evaluation.metrics import METRICS
from smooth_clir.cli.experiment import results_table
from smooth_clir.experiments.cell import Cell
from tests.cli.command import Clir


def test_the_table_shows_settings_and_metrics_or_why_there_are_none() -> None:
    states = [
        Cell("a", {"loss.kind": "sosl", "loss.theta": None}, "done"),
        Cell("b", {"loss.kind": "softmax", "loss.theta": [0.5]}, "failed", "must be null\nand more"),
    ]
    head, done, failed = results_table(states, {"a": dict.fromkeys(METRICS, 0.25)}).splitlines()
    assert head.split() == ["loss", "theta", *METRICS]
    assert done.split() == ["sosl", "null"] + ["0.2500"] * len(METRICS)
    assert failed == "softmax  [0.5]  failed: must be null"


def test_a_temporary_folder_without_room_for_a_socket_is_refused_before_anything_runs(
    clir: Clir, config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(f"title: Seeds\nrun: {config_file}\ngrid: {{training.seed: [1]}}\noutput: {tmp_path / 'out'}\n")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("a" * 80)))
    done = clir("experiment", file)
    assert (done.code, "76 bytes" in done.err, "TMPDIR" in done.err) == (1, True, True)
    assert not [path for path in (tmp_path / "out").glob("*") if path.name != ".lock"]
