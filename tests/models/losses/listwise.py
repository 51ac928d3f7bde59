"""Losses by their names in a configuration, and lists to try them on."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from tensorflow import keras

from models.losses.declarations import LOSSES
from schemas.relevance import PADDING_LABEL

scores = st.floats(-1, 1, width=32)


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
    return hundredths.map(lambda some: tuple(h / 100 for h in sorted(some)))


@st.composite
def lists(draw, name, padding=True):
    """Thresholds (None for a loss without any), grades and scores of a list."""
    declaration = LOSSES[name]
    theta = None
    if declaration.default_theta is not None:
        theta = draw(thetas(declaration.theta_length or 1, declaration.theta_length or 4))
    top_grade = declaration.top_grade or (3 if theta is None else len(theta))
    places = st.tuples(st.integers(PADDING_LABEL if padding else 0, top_grade), scores)
    some = draw(st.lists(places, min_size=1, max_size=6))
    return theta, [grade for grade, _ in some], [score for _, score in some]


def make(name, theta=None, reduction=keras.losses.Reduction.NONE, **others):
    """The loss of a configuration."""
    arguments = {} if theta is None else {"theta": theta}
    return LOSSES[name].load()(**arguments, reduction=reduction, **others)


def loss_and_gradient(name, theta, grades, scores, dtype=tf.float64, **others):
    """The loss of one list, and its gradient in the scores."""
    predicted = tf.constant([scores], dtype)
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        (value,) = make(name, theta, **others)(np.asarray([grades], np.float64), predicted)
    return float(value), tape.gradient(value, predicted)[0].numpy()
