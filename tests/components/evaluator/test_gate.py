"""The gate's verdict and its reason."""

import pytest

from components.evaluator.gate import judge

RANDOM = {"map": 0.1, "ndcg_5": 0.2}
PERFECT = {"map": 1.0, "ndcg_5": 1.0}


@pytest.mark.parametrize(
    ("metrics", "minimums", "blessed", "reason"),
    [
        ({"map": 0.5, "ndcg_5": 0.3}, None, True, "every metric lies above random order's"),
        ({"map": 0.5, "ndcg_5": 0.2}, None, False, "ndcg_5 must lie above random order's 0.2000; got 0.2000"),
        (
            {"map": 0.0, "ndcg_5": 0.1},
            None,
            False,
            "map must lie above random order's 0.1000; got 0.0000; "
            "ndcg_5 must lie above random order's 0.2000; got 0.1000",
        ),
        ({"map": 0.6, "ndcg_5": 0.0}, {"map": 0.6}, True, "map 0.6000 reaches 0.6000"),
        ({"map": 0.5, "ndcg_5": 0.9}, {"map": 0.6}, False, "map must reach 0.6000; got 0.5000"),
        (
            {"map": 0.5, "ndcg_5": 0.9},
            {"map": 0.6, "ndcg_5": 1.0},
            False,
            "map must reach 0.6000; got 0.5000; ndcg_5 must reach 1.0000; got 0.9000",
        ),
        (
            {"map": 0.5, "ndcg_5": 0.9},
            {"map": 0.4, "ndcg_5": 0.9},
            True,
            "map 0.5000 reaches 0.4000, ndcg_5 0.9000 reaches 0.9000",
        ),
        ({"map": 0.0, "ndcg_5": 0.0}, {}, True, "no minimum is set"),
    ],
)
def test_verdict_names_every_metric_that_decides(metrics, minimums, blessed, reason):
    assert judge(metrics, RANDOM, PERFECT, minimums) == (blessed, reason)


def test_a_metric_that_even_a_perfect_order_cannot_raise_is_not_asked_for():
    assert judge({"recall_mr_5": 1.0}, {"recall_mr_5": 1.0}, {"recall_mr_5": 1.0}, None).blessed


def test_a_metric_that_is_not_a_number_reaches_nothing():
    assert not judge({"map": float("nan")}, RANDOM, PERFECT, {"map": 0.0}).blessed
