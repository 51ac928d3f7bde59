"""Proposition 1: the constants of the losses, against the losses themselves."""

from math import exp, log

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.losses.declarations import ENDS, LOSSES
from models.losses.proposition_1 import LossConstants
from tests.models.losses.listwise import few, make, scales, thetas

pytestmark = pytest.mark.tensors

POINTWISE_LOSSES = [name for name in LOSSES if LOSSES[name].default_theta]
every_loss_with_constants = pytest.mark.parametrize(
    "name", [name for name in POINTWISE_LOSSES if LOSSES[name].constants(LOSSES[name].default_theta, ENDS)]
)


def values_and_slopes(name, theta, ends, scores):
    """The loss of every grade at every score, and its derivative: [grades, scores] each."""
    grades, loss = np.arange((LOSSES[name].top_grade or len(theta)) + 1), make(name, theta, ends=ends)
    both = tf.constant(np.broadcast_to(scores, [len(grades), len(scores)]), tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(both)
        values = loss.document_loss(tf.constant(np.broadcast_to(grades[:, np.newaxis], both.shape)), both)
    return values.numpy(), tape.gradient(values, both).numpy()


@every_loss_with_constants
@few
@given(st.data())
def test_constants_are_never_exceeded_and_value_and_slope_are_reached(name, data):
    length, scale = LOSSES[name].theta_length, data.draw(scales)
    theta = scale.of(data.draw(thetas(length or 1, length or 4)))
    lipschitz, smoothness, largest = LOSSES[name].constants(theta, scale.ends)
    scores = np.array(sorted({*scale.ends, *scale.of(data.draw(st.lists(st.floats(-1, 1, width=32), max_size=4)))}))
    values, slopes = values_and_slopes(name, theta, scale.ends, scores)
    assert np.abs(slopes).max() == pytest.approx(lipschitz)
    assert values.max() == pytest.approx(largest)
    assert (np.abs(np.diff(slopes)) <= smoothness * np.diff(scores) + 1e-9).all()


@given(thetas(1, 6))
def test_sosl_has_the_papers_constants(theta):
    bounds = (-1.0, *theta, 1.0)
    papers = max(max(2 * abs(1 + bounds[y - 1]), 2 * abs(1 - bounds[y])) for y in range(1, len(bounds)))
    constants = LOSSES["sosl"].constants(theta, ENDS)
    assert constants.lipschitz == pytest.approx(papers)
    assert constants.lipschitz < 4
    assert constants.smoothness == 2


@pytest.mark.parametrize(
    ("name", "theta", "ends", "expected"),
    [
        ("sosl", (0.2, 0.7), (-1, 1), (2 * 1.7, 2, 1.7**2)),  # an MR document at -1
        ("sosl", (1, 4), (0, 5), (2 * 4, 2, 4**2)),  # an NR document at 5, or an MR document at 0
        ("mse", (0.2, 0.7), (-1, 1), (2 * 1.85, 2, 1.85**2)),  # MR, aimed at (0.7 + 1) / 2, at -1
        ("mse", (1, 4), (0, 5), (2 * 4.5, 2, 4.5**2)),  # NR, aimed at 0.5, at 5
        ("three_part_l2", (0.2, 0.55, 0.9), (-1, 1), (2 * 1.9, 2, 1.9**2)),  # MR at -1
        ("three_part_l2", (1, 2, 3), (0, 5), (2 * 4, 2, 4**2)),  # NR at 5
        (
            "proportional_odds",
            (0.0,),
            (-1, 1),  # a document at the far end from its band
            (1 / (1 + exp(-1)) - 1 / (1 + exp(2)), 0.5, log(1 + exp(1)) + log(1 + exp(-2))),
        ),
        (
            "proportional_odds",
            (1,),
            (0, 3),  # NR at 3
            (1 / (1 + exp(-2)) - 1 / (1 + exp(3)), 0.5, log(1 + exp(2)) + log(1 + exp(-3))),
        ),
    ],
)
def test_constants_of_thresholds_and_ends_are_those_of_the_document_farthest_from_its_place(
    name, theta, ends, expected
):
    assert LOSSES[name].constants(theta, ends) == pytest.approx(LossConstants(*expected))


def test_proportional_odds_nears_its_smoothness_where_a_band_is_narrow():
    _, slopes = values_and_slopes("proportional_odds", (-1e-3, 1e-3), ENDS, [-1e-3, 1e-3])
    before, after = slopes[1]
    assert (after - before) / 2e-3 == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in POINTWISE_LOSSES])
def test_losses_of_whole_lists_have_none(name):
    assert LOSSES[name].constants((), ENDS) is None
