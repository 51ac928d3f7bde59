"""Proposition 1: the constants of the losses, against the losses themselves."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.settings import LOSSES
from models.theory.proposition_1 import loss_constants
from tests.models.losses.listwise import make, thetas

POINTWISE_LOSSES = [name for name in LOSSES if LOSSES[name].default_theta]
every_pointwise_loss = pytest.mark.parametrize("name", POINTWISE_LOSSES)


def values_and_slopes(name, theta, scores):
    """The loss of every grade at every score, and its derivative: [grades, scores] each."""
    grades, loss = np.arange((LOSSES[name].top_grade or len(theta)) + 1), make(name, theta)
    both = tf.constant(np.broadcast_to(scores, [len(grades), len(scores)]), tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(both)
        values = loss.document_loss(tf.constant(np.broadcast_to(grades[:, np.newaxis], both.shape)), both)
    return values.numpy(), tape.gradient(values, both).numpy()


@every_pointwise_loss
@given(st.data())
def test_constants_are_never_exceeded_and_value_and_slope_are_reached(name, data):
    length = LOSSES[name].theta_length
    theta = data.draw(thetas(length or 1, length or 4))
    lipschitz, smoothness, largest = loss_constants(name, theta)
    scores = np.array(sorted({-1.0, 1.0, *data.draw(st.lists(st.floats(-1, 1, width=32), max_size=4))}))
    values, slopes = values_and_slopes(name, theta, scores)
    assert np.abs(slopes).max() == pytest.approx(lipschitz)
    assert values.max() == pytest.approx(largest)
    assert (np.abs(np.diff(slopes)) <= smoothness * np.diff(scores) + 1e-9).all()


@given(thetas(1, 6))
def test_sosl_has_the_papers_constants(theta):
    bounds = (-1.0, *theta, 1.0)
    papers = max(max(2 * abs(1 + bounds[y - 1]), 2 * abs(1 - bounds[y])) for y in range(1, len(bounds)))
    constants = loss_constants("sosl", theta)
    assert constants.lipschitz == pytest.approx(papers)
    assert constants.lipschitz < 4
    assert constants.smoothness == 2


def test_proportional_odds_nears_its_smoothness_where_a_band_is_narrow():
    _, slopes = values_and_slopes("proportional_odds", (-1e-3, 1e-3), [-1e-3, 1e-3])
    before, after = slopes[1]
    assert (after - before) / 2e-3 == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in POINTWISE_LOSSES])
def test_losses_of_whole_lists_have_none(name):
    assert loss_constants(name, LOSSES[name].default_theta) is None
