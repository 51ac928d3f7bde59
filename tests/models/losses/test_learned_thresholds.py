"""Learned thresholds: what they start from, their gradient, and their order."""

from itertools import pairwise

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.losses.settings import LearnedThresholdLossSettings
from tests import reference
from tests.models.losses.listwise import LOSSES, few, lists, losses_and_gradients, make, scales, thetas

pytestmark = pytest.mark.tensors

every_learner = pytest.mark.parametrize(
    "name", [name for name, settings in LOSSES.items() if isinstance(settings, LearnedThresholdLossSettings)]
)


@every_learner
@few
@given(st.data())
def test_loss_and_gradient_in_the_scores_are_at_first_those_of_fixed_thresholds(name, data):
    example = data.draw(lists(name))
    learned, fixed = losses_and_gradients(name, *example, learn_theta=True), losses_and_gradients(name, *example)
    for values, expected in zip(learned, fixed, strict=True):
        np.testing.assert_allclose(values, expected, atol=1e-5)


@every_learner
@few
@given(st.data())
def test_loss_and_gradient_in_z_are_those_of_the_reference(name, data):
    theta, grades, scores = data.draw(lists(name))
    loss = make(name, theta, learn_theta=True)
    (z,) = loss.trainable_variables
    z.assign(data.draw(st.lists(st.floats(-2, 2), min_size=len(theta) + 1, max_size=len(theta) + 1)))

    def expected(z):
        rows = zip(grades, scores.astype(np.float64), strict=True)
        return sum(reference.loss_of_list(name, *row, reference.learned_theta(z)) for row in rows)

    with tf.GradientTape() as tape:
        value = tf.reduce_sum(loss(grades.astype(np.float64), tf.constant(scores, tf.float64)))
    gradient = tf.convert_to_tensor(tape.gradient(value, z, unconnected_gradients="zero"))
    assert float(value) == pytest.approx(expected(z.numpy()), abs=1e-5)
    np.testing.assert_allclose(gradient, reference.slopes(expected, z.numpy()), atol=5e-5)


@every_learner
@few
@given(st.lists(st.floats(-20, 20), min_size=2, max_size=5))
def test_thresholds_keep_their_order_whatever_is_learned(name, values):
    loss = make(name, tuple(np.linspace(-0.9, 0.9, len(values) - 1)), learn_theta=True)
    loss.trainable_variables[0].assign(values)
    bounds = [-1.0, *loss.current_theta(), 1.0]
    assert all(low <= high for low, high in pairwise(bounds))
    assert loss.current_theta() == pytest.approx(reference.learned_theta(np.float32(values)).tolist(), abs=1e-6)


@few
@given(thetas(1, 5), scales)
def test_first_thresholds_are_those_of_the_configuration(theta, scale):
    theta = scale.of(theta)
    assert make("sosl", theta, learn_theta=True, ends=scale.ends).current_theta() == pytest.approx(theta, abs=1e-5)
    assert make("sosl", theta, ends=scale.ends).current_theta() == pytest.approx(theta, abs=0)


@every_learner
def test_learned_thresholds_share_the_scale_between_the_ends_and_are_its_figures(name):
    loss = make(name, (1, 2), learn_theta=True, ends=(-4, 4))
    loss.trainable_variables[0].assign(np.log([1.0, 1.0, 2.0]))  # widths: a quarter of the scale, a quarter, a half
    assert loss.current_theta() == pytest.approx([-4 + 8 / 4, -4 + 2 * 8 / 4], abs=1e-6)
    assert loss.figures() == pytest.approx({"theta/1": -2, "theta/2": 0}, abs=1e-6)
    bounds = [bound.numpy() for bound in loss.band(tf.range(3), tf.zeros(3))]
    np.testing.assert_allclose(bounds, [[-4, -2, 0], [-2, 0, 4]], atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_that_learns_nothing_has_neither_weights_nor_figures(name):
    assert make(name).trainable_variables == []
    assert make(name).figures() == {}
