"""Settings of the evaluation."""

import pytest
from pydantic import ValidationError

from components.settings import EvaluationSettings
from models.evaluation.metrics import METRICS


@pytest.mark.parametrize("minimums", [None, {}, {"map": 0.0, "ndcg_5": 1.0}])
def test_minimums_of_known_metrics_are_taken(minimums):
    assert EvaluationSettings(minimums=minimums).minimums == minimums


@pytest.mark.parametrize(
    ("minimums", "message"),
    [
        ({"ndcg": 0.5}, "must be one of p_mr_1, .*; got 'ndcg'"),
        ({"map": 1.5}, r"map must lie in \[0, 1\]; got 1.5"),
        ({"map": -0.1}, r"map must lie in \[0, 1\]; got -0.1"),
        ({"map": True}, r"minimums.map\n.* valid number"),
    ],
)
def test_impossible_minimums_are_refused(minimums, message):
    with pytest.raises(ValidationError, match=message):
        EvaluationSettings(minimums=minimums)


def test_names_of_ir_measures_are_those_of_our_metrics() -> None:
    settings = EvaluationSettings(compared_metric="nDCG@5", minimums={"AP": 0.5, "P@10": 0.1, "mrr_r": 0.2})
    assert settings.compared_metric == "ndcg_5"
    assert settings.minimums == {"map": 0.5, "p_r_10": 0.1, "mrr_r": 0.2}
    with pytest.raises(ValueError, match="must name a metric once; got RR, mrr_r"):
        EvaluationSettings(minimums={"RR": 0.5, "mrr_r": 0.2})


@pytest.mark.parametrize("key", METRICS)
def test_every_metric_can_be_compared(key):
    assert EvaluationSettings(compared_metric=key).compared_metric == key


def test_no_other_metric_can_be_compared():
    with pytest.raises(ValidationError, match="must be one of p_mr_1, .*; got 'ndcg'; did you mean ndcg_5"):
        EvaluationSettings(compared_metric="ndcg")


@pytest.mark.parametrize("significance", [0, 1, -0.1, 1.5, float("nan")])
def test_a_significance_that_decides_nothing_is_refused(significance):
    with pytest.raises(ValidationError, match="significance"):
        EvaluationSettings(significance=significance)


def test_baselines_are_known_ones_and_each_comes_once() -> None:
    assert EvaluationSettings(baselines=()).baselines == ()
    with pytest.raises(ValueError, match="must name a baseline once; got paper, paper"):
        EvaluationSettings(baselines=("paper", "paper"))
    with pytest.raises(ValueError, match="must be one of bm25, paper, tfidf, .*; got 'papr'; did you mean paper"):
        EvaluationSettings(baselines=("papr",))
