"""Smooth Ordinal Search Loss (eq. 2): its values, and Proposition 1."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, given
from hypothesis import strategies as st

from models.losses.sosl import SmoothOrdinalSearchLoss
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests import reference

THETA = (0.2, 0.7)
scores = st.floats(-1, 1)
thetas = st.lists(st.integers(-99, 99), min_size=1, max_size=4, unique=True).map(
    lambda hundredths: tuple(h / 100 for h in sorted(hundredths))
)


@st.composite
def lists(draw, padding=True):
    """Thresholds, grades and scores of a list."""
    theta = draw(thetas)
    lowest = PADDING_LABEL if padding else 0
    places = draw(st.lists(st.tuples(st.integers(lowest, len(theta)), scores), min_size=1, max_size=6))
    return theta, [grade for grade, _ in places], [score for _, score in places]


def loss_and_gradient(theta, grades, scores):
    """The loss of one list, and its gradient in the scores, in float64."""
    predicted = tf.constant([scores], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        value = SmoothOrdinalSearchLoss(theta)(np.asarray([grades], np.float64), predicted)
    return float(value), tape.gradient(value, predicted)[0].numpy()


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


def test_loss_without_reduction_is_one_value_a_list():
    loss = SmoothOrdinalSearchLoss(THETA, reduction=tf.keras.losses.Reduction.NONE)
    values = loss(np.array([[2.0, 0.0], [1.0, -1.0]]), tf.constant([[0.5, 0.3], [0.1, 0.9]]))
    np.testing.assert_allclose(values, [(0.2**2 + 0.1**2) / 2, 0.1**2], rtol=1e-5)


@given(lists())
def test_loss_agrees_with_the_reference(example):
    theta, grades, scores = example
    assert loss_and_gradient(theta, grades, scores)[0] == pytest.approx(reference.sosl_of_list(grades, scores, theta))


@given(lists())
def test_loss_is_never_negative(example):
    assert loss_and_gradient(*example)[0] >= 0


@given(thetas, scores, st.data())
def test_loss_is_zero_exactly_within_the_band(theta, score, data):
    grade = data.draw(st.integers(0, len(theta)))
    lower, upper = (-1.0, *theta, 1.0)[grade : grade + 2]
    outside = max(lower - score, score - upper)
    assume(outside <= 0 or outside > 1e-9)  # the square of less is no float
    assert (loss_and_gradient(theta, [grade], [score])[0] == 0) == (lower <= score <= upper)


@given(lists(padding=False))
def test_gradient_in_a_score_is_at_most_four(example):
    theta, grades, scores = example
    _, gradient = loss_and_gradient(theta, grades, scores)
    assert np.abs(gradient * len(scores)).max() <= 4


@given(thetas, scores, scores, st.data())
def test_curvature_in_a_score_is_at_most_two(theta, score, other, data):
    grade = data.draw(st.integers(0, len(theta)))
    slopes = [loss_and_gradient(theta, [grade], [at])[1][0] for at in (score, other)]
    assert abs(slopes[0] - slopes[1]) <= 2 * abs(score - other) + 1e-12


@given(lists())
def test_gradient_is_the_derivative_of_the_loss(example):
    theta, grades, scores = example
    _, gradient = loss_and_gradient(theta, grades, scores)
    step = 1e-6
    for place in range(len(scores)):
        around = [np.array(scores) + sign * step * (np.arange(len(scores)) == place) for sign in (1, -1)]
        after, before = (reference.sosl_of_list(grades, at, theta) for at in around)
        assert gradient[place] == pytest.approx((after - before) / (2 * step), abs=1e-5)


@given(lists(), st.randoms())
def test_order_of_the_documents_does_not_change_the_loss(example, random):
    theta, grades, scores = example
    order = random.sample(range(len(grades)), len(grades))
    shuffled = loss_and_gradient(theta, [grades[i] for i in order], [scores[i] for i in order])[0]
    assert shuffled == pytest.approx(loss_and_gradient(theta, grades, scores)[0])


@given(lists(), st.lists(scores, max_size=3))
def test_padded_documents_change_neither_the_loss_nor_the_gradient(example, padded):
    theta, grades, scores = example
    loss, gradient = loss_and_gradient(theta, grades, scores)
    with_padding = loss_and_gradient(theta, grades + [PADDING_LABEL] * len(padded), scores + padded)
    assert with_padding[0] == pytest.approx(loss)
    assert with_padding[1] == pytest.approx(np.append(gradient, np.zeros(len(padded))))


def test_list_of_padding_alone_has_loss_zero_and_gradient_zero():
    loss, gradient = loss_and_gradient(THETA, [PADDING_LABEL] * 2, [0.9, -0.9])
    assert loss == 0
    assert np.array_equal(gradient, [0, 0])


@pytest.mark.parametrize(
    "theta", [(), (0.7, 0.2), (0.2, 0.2), (-1.0, 0.2), (0.2, 1.0), (1.5,), (float("nan"),), (0.2, float("nan"))]
)
def test_theta_that_does_not_increase_within_minus_one_and_one_is_refused(theta):
    with pytest.raises(ValueError, match=r"theta must increase strictly within \(-1, 1\); got \["):
        SmoothOrdinalSearchLoss(theta)
