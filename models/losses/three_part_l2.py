"""3-Part-L2, one of the losses that the paper compares SOSL with (arXiv:2011.00701, Table 2)."""

import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import PointwiseLoss
from models.losses.settings import PARTS


@keras.utils.register_keras_serializable(package="smooth_clir")
class ThreePartL2Loss(PointwiseLoss):
    """3-Part-L2: the squared excess of an NR or SR document's score, and the squared lack of an MR document's.

        loss(r, NR) = relu(r - theta_1)^2
        loss(r, SR) = relu(r - theta_2)^2
        loss(r, MR) = relu(theta_3 - r)^2

    A low score of an SR document costs nothing. A list's loss is the mean over its documents. Source: Nigam et al. 2019
    (Semantic Product Search), whose three parts are products drawn at random, shown, and bought; arXiv:2011.00701,
    section 5, applies it to grades. The thresholds are from the code of its authors.

    Args:
      theta: theta_1, theta_2 and theta_3, strictly increasing between the ends.
      ends, reduction, name: see `PointwiseLoss`.

    Call arguments:
      y_true: float [batch, list_size], grades 0 (NR), 1 (SR) and 2 (MR); a negative one marks padding.
      y_pred: float [batch, list_size], scores between the ends.

    Raises:
      ValueError: theta does not have three thresholds, or does not increase.

    Example:
      >>> loss = ThreePartL2Loss(theta=(0.2, 0.55, 0.9))
      >>> round(float(loss([[2.0, 1.0, 0.0]], [[0.6, -1.0, 0.5]])), 4)  # ((0.9 - 0.6)^2 + 0 + (0.5 - 0.2)^2) / 3
      0.06
    """

    def __init__(self, theta: Sequence[float] = PARTS, **kwargs: Any) -> None:
        super().__init__(theta, **kwargs)
        if len(self.theta) != 3:
            raise ValueError(f"theta must hold three thresholds; got {list(theta)}.")

    def document_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        """The squared excess or lack of each document: grade int [...], score float [...] -> float [...]."""
        highest = tf.constant((self.theta[0], self.theta[1], math.inf), score.dtype)
        lowest = tf.constant((-math.inf, -math.inf, self.theta[2]), score.dtype)
        excess, lack = score - tf.gather(highest, grade), tf.gather(lowest, grade) - score
        return tf.square(tf.nn.relu(excess)) + tf.square(tf.nn.relu(lack))
