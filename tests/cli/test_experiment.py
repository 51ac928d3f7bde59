"""cli/experiment.py: a line a cell."""

from cli.experiment import results_table
from experiments.cell import Cell
from models.evaluation.metrics import METRICS


def test_the_table_shows_settings_and_metrics_or_why_there_are_none() -> None:
    states = [
        Cell("a", {"loss.name": "sosl", "loss.theta": None}, "done"),
        Cell("b", {"loss.name": "softmax", "loss.theta": [0.5]}, "failed", "must be null\nand more"),
    ]
    head, done, failed = results_table(states, {"a": dict.fromkeys(METRICS, 0.25)}).splitlines()
    assert head.split() == ["name", "theta", *METRICS]
    assert done.split() == ["sosl", "null"] + ["0.2500"] * len(METRICS)
    assert failed == "softmax  [0.5]  failed: must be null"
