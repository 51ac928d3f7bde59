"""Settings of the evaluation."""

import pytest
from pydantic import ValidationError

from components.evaluator.settings import EvaluationSettings


@pytest.mark.parametrize("minimums", [None, {}, {"map": 0.0, "ndcg_5": 1.0}])
def test_minimums_of_known_metrics_are_taken(minimums):
    assert EvaluationSettings(minimums=minimums).minimums == minimums


@pytest.mark.parametrize(
    ("minimums", "message"),
    [
        ({"ndcg": 0.5}, "must name metrics of p_mr_1, .*; got 'ndcg'"),
        ({"map": 1.5}, r"map must lie in \[0, 1\]; got 1.5"),
        ({"map": -0.1}, r"map must lie in \[0, 1\]; got -0.1"),
    ],
)
def test_impossible_minimums_are_refused(minimums, message):
    with pytest.raises(ValidationError, match=message):
        EvaluationSettings(minimums=minimums)
