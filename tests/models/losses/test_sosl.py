"""Smooth Ordinal Search Loss (eq. 2): its values, and Proposition 1."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests.models.losses import listwise
from tests.models.losses.listwise import few, lists, scores, thetas

THETA = (0.2, 0.7)
some_thetas = thetas(1, 4)


def loss_and_gradient(theta, grades, scores):
    """The loss of one list, and its gradient in the scores, in float64."""
    return listwise.loss_and_gradient("sosl", theta, grades, scores)


@pytest.mark.parametrize(
    ("grade", "score", "expected"),
    [
        (MOST_RELEVANT, 0.5, (0.7 - 0.5) ** 2),
        (MOST_RELEVANT, -1.0, (0.7 + 1) ** 2),
        (SOMEWHAT_RELEVANT, 0.1, (0.2 - 0.1) ** 2),
        (SOMEWHAT_RELEVANT, 0.9, (0.9 - 0.7) ** 2),
        (NOT_RELEVANT, 0.5, (0.5 - 0.2) ** 2),
        (NOT_RELEVANT, 1.0, (1 - 0.2) ** 2),
    ],
)
def test_loss_of_one_document_is_the_squared_distance_to_its_band(grade, score, expected):
    assert loss_and_gradient(THETA, [grade], [score])[0] == pytest.approx(expected)


def test_loss_of_a_list_is_the_mean_over_its_documents():
    loss, _ = loss_and_gradient(THETA, [MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL], [0.5, 0.6, 0.9])
    assert loss == pytest.approx(((0.7 - 0.5) ** 2 + (0.6 - 0.2) ** 2) / 2)


@few
@given(lists("sosl", padding=False))
def test_loss_is_never_negative_and_its_gradient_in_a_score_at_most_four(example):
    losses, gradients = listwise.losses_and_gradients("sosl", *example)
    assert losses.min() >= 0
    assert np.abs(gradients * gradients.shape[1]).max() <= 4


@few
@given(some_thetas, st.lists(scores, min_size=2, max_size=20), st.data())
def test_loss_is_zero_exactly_within_the_band_and_its_curvature_at_most_two(theta, scores, data):
    grade = data.draw(st.integers(0, len(theta)))
    lower, upper = (-1.0, *theta, 1.0)[grade : grade + 2]
    scores = np.sort([score for score in scores if not 0 < max(lower - score, score - upper) < 1e-9])
    assume(len(scores))  # the square of less is no float
    losses, slopes = listwise.losses_and_gradients("sosl", theta, [[grade]] * len(scores), scores[:, np.newaxis])
    np.testing.assert_array_equal(losses == 0, (lower <= scores) & (scores <= upper))
    assert (np.abs(np.diff(slopes[:, 0])) <= 2 * np.diff(scores) + 1e-12).all()
