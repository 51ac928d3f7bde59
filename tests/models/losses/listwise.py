"""Losses by their names in a configuration, and lists to try them on."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tensorflow import keras

from models.losses.settings import LossSettings
from schemas.relevance import PADDING_LABEL

LOSSES = {name: LossSettings.model_validate(name) for name in LossSettings.kinds}
"""The settings of each loss."""
scores = st.floats(-1, 1, width=32)
few = settings(max_examples=6)
"""Each example has several lists."""


class Scale(NamedTuple):
    """A scale of scores, and what thresholds and scores in [-1, 1] are on it."""

    ends: tuple[float, float]

    def at(self, number):
        low, high = self.ends
        return low + (high - low) * (number + 1) / 2

    def of(self, numbers):
        return tuple(self.at(number) for number in numbers)


scales = st.sampled_from([Scale((-1.0, 1.0)), Scale((0.0, 1.0)), Scale((-3.0, 5.0))])


def thetas(smallest, largest):
    """So many thresholds, in steps of a hundredth."""
    hundredths = st.lists(st.integers(-99, 99), min_size=smallest, max_size=largest, unique=True)
    return hundredths.map(lambda values: tuple(h / 100 for h in sorted(values)))


def thetas_for(name):
    """The thresholds that a loss may have."""
    return thetas(3, 3) if name == "three_part_l2" else thetas(1, 4)


@st.composite
def lists(draw, name, padding=True):
    """Thresholds (None for a loss without any), and grades and scores of eight lists of equal length."""
    theta = draw(thetas_for(name)) if LOSSES[name].thresholds else None
    top_grade = LOSSES[name].top_grade or (3 if theta is None else len(theta))
    shape = (8, draw(st.integers(1, 6)))
    grades = draw(
        arrays(np.int64, shape, elements=st.integers(PADDING_LABEL if padding else 0, top_grade), fill=st.nothing())
    )
    return theta, grades, draw(arrays(np.float32, shape, elements=scores, fill=st.nothing()))


def make(name, theta=None, reduction=keras.losses.Reduction.NONE, **own):
    """The loss of a configuration."""
    arguments = {} if theta is None else {"theta": theta}
    return LOSSES[name].load()(**arguments, reduction=reduction, **own)


def losses_and_gradients(name, theta, grades, scores, dtype=tf.float64, **arguments):
    """The loss of each list, and its gradient in the scores."""
    predicted = tf.constant(scores, dtype)
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        values = make(name, theta, **arguments)(np.asarray(grades, np.float64), predicted)
    return values.numpy(), tape.gradient(values, predicted).numpy()


def loss_and_gradient(name, theta, grades, scores, dtype=tf.float64, **arguments):
    """The loss of one list, and its gradient in the scores."""
    (value,), (gradient,) = losses_and_gradients(name, theta, [grades], [scores], dtype, **arguments)
    return float(value), gradient
