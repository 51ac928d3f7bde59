"""The summary that a report opens with."""

from collections.abc import Callable

import pytest

from smooth_clir.experiments.experiment import Experiment
from smooth_clir.experiments.report.claims import judge
from smooth_clir.experiments.report.summary import summary, summary_figure
from tests.experiments.conftest import tables

pytestmark = pytest.mark.tensors

ExperimentOf = Callable[[str], Experiment]


def summary_of(experiment: Experiment) -> list[dict[str, list[str]]]:
    return tables("\n\n".join(summary(experiment, judge(experiment))) + "\n")


@pytest.mark.parametrize("name", ["losses", "negatives", "domains"])
def test_the_summary_has_the_means_of_the_results(
    experiment_of: ExperimentOf, results_of: Callable[[str], str], name: str
) -> None:
    (shown,) = summary_of(experiment_of(name))
    rows = next(table for table in tables(results_of(name)) if shown.keys() <= {key.split("<br>")[0] for key in table})
    for head, (_, first, _, _, ndcg, *_) in rows.items():
        means = [entry.split("<br>")[0].replace("↑", "").replace("↓", "") for entry in (ndcg, first)]
        assert shown[head.split("<br>")[0]] == means
    if name == "losses":  # the best row is bold, and a baseline never is
        assert [row for row, (ndcg, _) in shown.items() if ndcg.startswith("**")] == ["SOSL"]


def test_the_picture_has_a_line_for_every_finished_row_and_every_baseline(experiment_of: ExperimentOf) -> None:
    picture = summary_figure(experiment_of("losses").rows)
    assert picture is not None
    for label in ("SOSL", "3Part_L2", "MSE", "PO_S", "random order", "BM25"):
        assert f">{label}</text>" in picture.file


def test_without_a_finished_cell_there_is_neither_table_nor_picture(experiment_of: ExperimentOf) -> None:
    assert summary_of(experiment_of("nothing done")) == []
    assert summary_figure(experiment_of("nothing done").rows) is None
