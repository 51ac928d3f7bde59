"""Proportional odds: logistic penalties at both ends of the band."""

from math import exp, log

import pytest
import tensorflow as tf

from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT
from tests.models.losses.listwise import loss_and_gradient
from tests.reference import sigmoid

pytestmark = pytest.mark.tensors

BANDS = {NOT_RELEVANT: (-1, 0.2), SOMEWHAT_RELEVANT: (0.2, 0.7), MOST_RELEVANT: (0.7, 1)}


@pytest.mark.parametrize("grade", BANDS)
@pytest.mark.parametrize("score", [-1.0, 0.5, 1.0])
def test_loss_is_minus_the_logarithms_of_both_odds(grade, score):
    low, high = BANDS[grade]
    loss, (slope,) = loss_and_gradient("proportional_odds", (0.2, 0.7), [grade], [score])
    assert loss == pytest.approx(log(1 + exp(score - high)) + log(1 + exp(low - score)))
    assert slope == pytest.approx(sigmoid(score - high) - sigmoid(low - score))


def test_the_terms_at_the_ends_of_the_cosine_stay():
    """An NR document at -1 still pays log 2 for the end of its band there, and an MR document at 1."""
    for grade, score in ((NOT_RELEVANT, -1.0), (MOST_RELEVANT, 1.0)):
        loss, _ = loss_and_gradient("proportional_odds", (0.0, 0.5), [grade], [score])
        other_end = {NOT_RELEVANT: 0.0, MOST_RELEVANT: 0.5}[grade]
        assert loss == pytest.approx(log(2) + log(1 + exp(-abs(score - other_end))))


@pytest.mark.parametrize("score", [-1e6, 1e6])
def test_loss_of_a_huge_score_is_its_distance(score):
    loss, (slope,) = loss_and_gradient("proportional_odds", (0.2, 0.7), [SOMEWHAT_RELEVANT], [score], tf.float32)
    assert loss == pytest.approx(abs(score), rel=1e-5)
    assert slope == pytest.approx(1 if score > 0 else -1)
