"""The declared targets of the losses, and the constants of Proposition 1, compared with the losses themselves."""

from math import exp, log

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.losses.proposition_1 import LossConstants
from models.losses.settings import ENDS
from tests.models.losses.listwise import (
    LOSSES,
    few,
    losses_and_gradients,
    make,
    scales,
    scores,
    thetas,
    thetas_for,
)

pytestmark = pytest.mark.tensors

POINTWISE_LOSSES = [name for name in LOSSES if LOSSES[name].thresholds]
every_pointwise_loss = pytest.mark.parametrize("name", POINTWISE_LOSSES)


@st.composite
def scaled_thresholds(draw, name):
    """A scale, and as many thresholds on it as a loss takes."""
    scale = draw(scales)
    return scale, scale.of(draw(thetas_for(name)))


@every_pointwise_loss
@few
@given(st.data())
def test_the_loss_is_least_at_its_targets_and_there_alone(name, data):
    scale, theta = data.draw(scaled_thresholds(name))
    grade = data.draw(st.integers(0, LOSSES[name].top_grade or len(theta)))
    low, high = LOSSES[name].theory.targets(theta, scale.ends)[grade]
    drawn = scale.of(data.draw(st.lists(scores, max_size=8)))
    predicted = [[score] for score in (max(low, scale.ends[0]), min(high, scale.ends[1]), *drawn)]
    lowest, *losses = losses_and_gradients(name, theta, [[grade]] * len(predicted), predicted, ends=scale.ends)[0]
    for (score,), loss in zip(predicted[1:], losses, strict=True):
        distance = max(low - score, score - high)
        if distance > 1e-3:
            assert loss > lowest
        elif distance <= 0:
            assert loss == pytest.approx(lowest, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "top_grade"),
    [
        (name, top_grade)
        for name in POINTWISE_LOSSES
        for top_grade in (1, 2, 3, 5)
        if LOSSES[name].top_grade in (None, top_grade)
    ],
)
def test_a_list_whose_documents_score_the_same_never_has_the_least_loss(name, top_grade):
    settings = LOSSES[name].for_grades(top_grade)
    grades, targets = [*range(top_grade + 1)], settings.targets_of_grades(top_grade)
    apart = [np.clip(high if grade == 0 else low, *ENDS) for grade, (low, high) in enumerate(targets)]
    predicted = [apart, *([score] * len(grades) for score in np.linspace(*ENDS, 41))]
    loss = make(name, settings.thresholds, top_grade=top_grade)
    smallest, *equal = loss([grades] * len(predicted), tf.constant(predicted, tf.float64)).numpy()
    assert min(equal) > smallest + 0.01


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in POINTWISE_LOSSES])
def test_losses_of_whole_lists_have_neither_targets_nor_constants(name):
    assert LOSSES[name].theory.targets((), ENDS) == []
    assert LOSSES[name].theory.constants((), ENDS) is None


# Proposition 1


def values_and_slopes(name, theta, ends, scores):
    """The loss of every grade at every score, and its derivative: [grades, scores] each."""
    grades, loss = np.arange((LOSSES[name].top_grade or len(theta)) + 1), make(name, theta, ends=ends)
    predicted = tf.constant(np.broadcast_to(scores, [len(grades), len(scores)]), tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        values = loss.document_loss(tf.constant(np.broadcast_to(grades[:, np.newaxis], predicted.shape)), predicted)
    return values.numpy(), tape.gradient(values, predicted).numpy()


@every_pointwise_loss
@few
@given(st.data())
def test_constants_are_never_exceeded_and_value_and_slope_are_reached(name, data):
    scale, theta = data.draw(scaled_thresholds(name))
    lipschitz, smoothness, largest = LOSSES[name].theory.constants(theta, scale.ends)
    drawn = scale.of(data.draw(st.lists(scores, max_size=4)))
    predicted = np.array(sorted({*scale.ends, *drawn}))
    values, slopes = values_and_slopes(name, theta, scale.ends, predicted)
    assert np.abs(slopes).max() == pytest.approx(lipschitz)
    assert values.max() == pytest.approx(largest)
    assert (np.abs(np.diff(slopes)) <= smoothness * np.diff(predicted) + 1e-9).all()


@given(thetas(1, 6))
def test_sosl_has_the_papers_constants(theta):
    bounds = (-1.0, *theta, 1.0)
    papers = max(max(2 * abs(1 + bounds[y - 1]), 2 * abs(1 - bounds[y])) for y in range(1, len(bounds)))
    constants = LOSSES["sosl"].theory.constants(theta, ENDS)
    assert constants.lipschitz == pytest.approx(papers)
    assert constants.lipschitz < 4
    assert constants.smoothness == 2


@pytest.mark.parametrize(
    ("name", "theta", "ends", "expected"),
    [
        ("sosl", (1, 4), (0, 5), (2 * 4, 2, 4**2)),  # an NR document at 5, or an MR document at 0
        ("mse", (1, 4), (0, 5), (2 * 4.5, 2, 4.5**2)),  # NR, aimed at 0.5, at 5
        ("three_part_l2", (1, 2, 3), (0, 5), (2 * 4, 2, 4**2)),  # NR at 5
        (
            "proportional_odds",
            (1,),
            (0, 3),  # NR at 3
            (1 / (1 + exp(-2)) - 1 / (1 + exp(3)), 0.5, log(1 + exp(2)) + log(1 + exp(-3))),
        ),
    ],
)
def test_constants_are_those_of_the_document_farthest_from_its_target(name, theta, ends, expected):
    assert LOSSES[name].theory.constants(theta, ends) == pytest.approx(LossConstants(*expected))


def test_proportional_odds_nears_its_smoothness_where_a_band_is_narrow():
    _, slopes = values_and_slopes("proportional_odds", (-1e-3, 1e-3), ENDS, [-1e-3, 1e-3])
    before, after = slopes[1]
    assert (after - before) / 2e-3 == pytest.approx(0.5, abs=1e-6)
