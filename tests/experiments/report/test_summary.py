"""The summary that a report opens with."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.experiment import read_experiment
from experiments.report.claims import judge
from experiments.report.summary import summary, summary_figure
from tests.experiments.conftest import tables

pytestmark = pytest.mark.tensors

ResultsOf = Callable[[str], str]


def summary_of(folder: Path) -> str:
    experiment = read_experiment(folder)
    return "\n\n".join(summary(experiment, judge(experiment))) + "\n"


@pytest.mark.stages
@pytest.mark.parametrize("name", ["losses", "negatives", "domains"])
def test_the_summary_has_the_means_of_the_results(folders: dict[str, Path], results_of: ResultsOf, name: str) -> None:
    (found,) = tables(summary_of(folders[name]))
    whole = next(table for table in tables(results_of(name)) if found.keys() <= {key.split("<br>")[0] for key in table})
    for head, (_, first, *_, ndcg) in ((head, entries[:5]) for head, entries in whole.items()):
        shown = [entry.split("<br>")[0].replace("↑", "").replace("↓", "") for entry in (ndcg, first)]
        assert found[head.split("<br>")[0]] == [entry.replace("↑**", "**") for entry in shown]


def test_the_best_row_is_bold_and_a_baseline_never_is(folders: dict[str, Path]) -> None:
    (found,) = tables(summary_of(folders["losses"]))
    assert [row for row, (ndcg, _) in found.items() if ndcg.startswith("**")] == ["SOSL"]


def test_the_picture_has_a_line_for_every_finished_row_and_every_baseline(folders: dict[str, Path]) -> None:
    picture = summary_figure(read_experiment(folders["losses"]).rows)
    assert picture is not None
    for label in ("SOSL", "3Part_L2", "MSE", "PO_S", "random order", "BM25"):
        assert f">{label}</text>" in picture.file


def test_without_a_finished_cell_there_is_neither_table_nor_picture(folders: dict[str, Path]) -> None:
    assert tables(summary_of(folders["nothing done"])) == []
    assert summary_figure(read_experiment(folders["nothing done"]).rows) is None
