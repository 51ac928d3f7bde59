"""A metric that is added to the table of metrics, and the places that follow it without a change."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from components.settings import EvaluationSettings
from models.evaluation.evaluate_lists import evaluate
from models.evaluation.metrics import METRICS, NDCG, Metric
from models.training.settings import TrainingSettings
from smooth_clir.cli.experiment import results_table
from smooth_clir.cli.settings_doc import settings_markdown
from smooth_clir.cli.summary import metrics_table
from smooth_clir.experiments.experiment import read_experiment
from smooth_clir.experiments.report.write_report import report_text
from tests.experiments.conftest import tables
from tests.experiments.experiment_folder import write_experiment
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.tensors

DEFINITION = "as NDCG@5, cut off at 10."
PAPERS = ["P\\_mr@1", "P\\_mr@5", "P\\_r@5", "NDCG@5", "MAP", "MRR\\_mr", "MRR\\_r"]


@pytest.fixture(autouse=True)
def ndcg_10() -> Iterator[None]:
    """A metric that the paper does not have, beside the paper's alone. Afterwards the table has its order again."""
    before = dict(METRICS)
    for key in [key for key, metric in METRICS.items() if not metric.paper_name]:
        del METRICS[key]
    METRICS["ndcg_10"] = Metric("ndcg_10", None, DEFINITION, 10, mr_only=False, formula=NDCG)
    yield
    METRICS.clear()
    METRICS.update(before)


def test_an_evaluation_and_its_baselines_have_it() -> None:
    # Seven documents, the MR document at rank 7: beyond the cutoff of the others, and a list that is shorter than 10.
    lists = text_lists([("q", "", {f"d{rank}": ("", 2 if rank == 6 else 0) for rank in range(7)})])
    report = evaluate(lists, [-np.arange(7, dtype=np.float32)], {}, top_grade=2).report
    assert report.metrics["ndcg_5"] == 0
    assert report.metrics["ndcg_10"] == pytest.approx(1 / np.log2(1 + 7))
    assert report.reachable["ndcg_10"] == 1
    assert report.baselines["random"]["ndcg_10"] == pytest.approx(np.mean([1 / np.log2(1 + k) for k in range(1, 8)]))
    assert "ndcg_10" not in report.paper_names
    assert "ndcg_10         0.3333    0.5197    1.0000\n" in metrics_table(report)


def test_settings_take_it_and_their_page_names_it() -> None:
    assert TrainingSettings(best_metric="ndcg_10").best_metric == "ndcg_10"
    settings = EvaluationSettings(compared_metric="ndcg_10", minimums={"ndcg_10": 0.5})
    assert (settings.compared_metric, settings.minimums) == ("ndcg_10", {"ndcg_10": 0.5})
    rows = [row for row in settings_markdown().splitlines() if "one of p_mr_1" in row]
    names = ["- **`training.best_metric`**", "- **`evaluation.compared_metric`**"]
    assert [row.split(":")[0] for row in rows] == names
    assert all("mrr_r, ndcg_10; default `ndcg_5`" in row for row in rows)


@pytest.mark.stages
def test_the_report_of_an_experiment_shows_it_everywhere_but_beside_the_published_numbers(tmp_path: Path) -> None:
    grid = {"loss.name": ["sosl", "mse"], "model.epsilon": [0.5, 1]}
    experiment = read_experiment(write_experiment(tmp_path, grid, published="wikiclir_fr"))
    text = report_text(experiment)
    assert f"| seeds | {' | '.join(PAPERS)} | ndcg\\_10 |" in text
    assert f"| reference row | {' | '.join(PAPERS)} | ndcg\\_10 |" in text
    assert f"| ndcg\\_10 | {DEFINITION} |" in text
    _, summary, results, p_values, errors, published, *_ = (table for table in tables(text) if len(table) > 1)
    assert {len(entries) for entries in summary.values()} == {2}
    assert {len(entries) for entries in results.values()} == {1 + 8}
    assert {len(entries) for entries in p_values.values()} == {1 + 8}
    assert {len(entries) for entries in errors.values()} == {8}
    assert list(published) == PAPERS
    assert "all 24 comparisons" in text  # three rows, eight metrics


def test_the_lines_of_an_experiment_have_it(tmp_path: Path) -> None:
    experiment = read_experiment(write_experiment(tmp_path, {"loss.name": ["sosl"]}))
    head, _ = results_table(
        experiment.cells, {cell.name: dict.fromkeys(METRICS, 0.25) for cell in experiment.cells}
    ).splitlines()
    assert head.split()[-2:] == ["mrr_r", "ndcg_10"]
