"""The verdict of the gate and its file; the test behind a comparison is `models.evaluation.significance`'s."""

import pytest

from schemas.verdict import Comparison, Verdict

COMPARISON = Comparison(version="7", metric="ndcg_5", value=0.4, last_value=0.5, p_value=0.04, significance=0.05)


@pytest.mark.parametrize(("p_value", "is_worse"), [(0.04, True), (0.05, False), (0.06, False), (1.0, False)])
def test_worse_is_a_p_value_below_the_significance(p_value, is_worse):
    assert COMPARISON.model_copy(update={"p_value": p_value}).is_worse == is_worse


def test_the_file_is_json_for_people_and_reads_back_the_same():
    verdict = Verdict(blessed=False, reason="the model is worse", comparison=COMPARISON)
    assert (
        verdict.to_json()
        == """{
  "blessed": false,
  "reason": "the model is worse",
  "comparison": {
    "version": "7",
    "metric": "ndcg_5",
    "value": 0.4,
    "last_value": 0.5,
    "p_value": 0.04,
    "significance": 0.05
  }
}
"""
    )
    assert Verdict.from_json(verdict.to_json()) == verdict
