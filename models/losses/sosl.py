"""Smooth Ordinal Search Loss (arXiv:2011.00701, eq. 2)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package="smooth_clir")
class SmoothOrdinalSearchLoss(keras.losses.Loss):
    """SOSL: the squared distance of a score to the band of its document's grade.

        loss(r, y) = relu(r - theta_y)^2 + relu(theta_{y-1} - r)^2,   -1 = theta_0 < theta_1 < ... < theta_K = 1

    with the paper's y = 1 .. K for our grade y - 1. Zero within the band; in the score, the gradient is at most 4 and
    the curvature at most 2 (Proposition 1). A list's loss is the mean over its documents. Source: arXiv:2011.00701,
    eq. (2).

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing in (-1, 1).
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades 0 .. K - 1; a negative one marks padding.
      y_pred: float [batch, list_size], scores in [-1, 1].

    Raises:
      ValueError: theta is empty or not increasing.

    Example:
      >>> loss = SmoothOrdinalSearchLoss(theta=(0.2, 0.7))
      >>> round(float(loss([[2.0, 0.0]], [[0.5, 0.0]])), 4)  # ((0.7 - 0.5)^2 + 0) / 2
      0.02
    """

    def __init__(self, theta: Sequence[float] = (0.2, 0.7), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = tuple(float(threshold) for threshold in theta)
        bounds = (-1.0, *self.theta, 1.0)
        if not self.theta or not all(low < high for low, high in pairwise(bounds)):
            raise ValueError(f"theta must increase strictly within (-1, 1); got {list(theta)}.")

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        """The mean loss of each list, float [batch]; 0 for a list of padding alone."""
        y_pred = tf.convert_to_tensor(y_pred)
        grade = tf.cast(y_true, y_pred.dtype)
        is_document = tf.cast(grade >= 0, y_pred.dtype)
        loss = self.pair_loss(tf.cast(tf.maximum(grade, 0), tf.int32), y_pred) * is_document
        return tf.math.divide_no_nan(tf.reduce_sum(loss, axis=-1), tf.reduce_sum(is_document, axis=-1))

    def pair_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        """Eq. 2 for each document: grade int [...], score float [...] -> float [...]."""
        bounds = tf.constant((-1.0, *self.theta, 1.0), score.dtype)
        lower, upper = tf.gather(bounds, grade), tf.gather(bounds, grade + 1)
        return tf.square(tf.nn.relu(score - upper)) + tf.square(tf.nn.relu(lower - score))

    def get_config(self) -> dict[str, Any]:
        """The loss's arguments."""
        return {**super().get_config(), "theta": list(self.theta)}
