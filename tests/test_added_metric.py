"""A metric with a cutoff of its own, which a configuration names, and the places that follow it."""

import numpy as np
import pytest

from components.settings import EvaluationSettings
from models.evaluation.evaluate_lists import evaluate
from models.evaluation.metrics import METRICS, Metric
from models.training.settings import TrainingSettings
from smooth_clir.cli.summary import metrics_table
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.tensors


def test_settings_take_any_cutoff_and_the_names_of_ir_measures() -> None:
    assert TrainingSettings(best_metric="nDCG@7").best_metric == "ndcg_7"
    settings = EvaluationSettings(metrics=("P@3",), compared_metric="ndcg@10", minimums={"recall_mr@7": 0.5})
    assert settings.reported == [*METRICS, "p_r_3", "ndcg_10", "recall_mr_7"]
    assert settings.minimums == {"recall_mr_7": 0.5}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ndgc@5", "did you mean ndcg_5"),
        ("recall_mr", "must have a cutoff, such as recall_mr@5"),
        ("map@5", "must be map, which has no cutoff"),
        ("ndcg@0", "must be one of p_mr@K"),
    ],
)
def test_a_name_that_is_no_metric_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Metric.parse(name)


@pytest.mark.parametrize("key", [*METRICS, "ndcg_3", "mrr_r_10", "recall_100"])
def test_a_metrics_key_is_its_name(key: str) -> None:
    assert Metric.parse(key).key == key


def test_an_evaluation_and_its_baselines_have_it() -> None:
    # Seven documents, the MR document at rank 7: beyond the cutoff of the others, and a list that is shorter than 10.
    lists = text_lists([("q", "", {f"d{rank}": ("", 2 if rank == 6 else 0) for rank in range(7)})])
    settings = EvaluationSettings(metrics=("ndcg@10",))
    report = evaluate(lists, [-np.arange(7, dtype=np.float32)], {}, 2, settings.reported).report
    assert report.metrics["ndcg_5"] == 0
    assert report.metrics["ndcg_10"] == pytest.approx(1 / np.log2(1 + 7))
    assert report.reachable["ndcg_10"] == 1
    assert report.baselines["random"]["ndcg_10"] == pytest.approx(np.mean([1 / np.log2(1 + k) for k in range(1, 8)]))
    assert "ndcg_10" not in report.paper_names
    assert "ndcg_10              0.3333    0.5197    1.0000\n" in metrics_table(report)
