"""Smooth Ordinal Search Loss (arXiv:2011.00701, eq. 2)."""

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import BandLoss


@keras.utils.register_keras_serializable(package="smooth_clir")
class SmoothOrdinalSearchLoss(BandLoss):
    """SOSL: the squared distance of a score to the band of its document's grade.

        loss(r, y) = relu(r - theta_y)^2 + relu(theta_{y-1} - r)^2,   theta_0 < theta_1 < ... < theta_K

    with the paper's y = 1 .. K for our grade y - 1. Zero within the band; for scores in [-1, 1] the gradient is at most
    4 and the curvature at most 2 (Proposition 1). A list's loss is the mean over its documents. Source:
    arXiv:2011.00701, eq. (2).

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing between the ends.
      learn_theta: see `BandLoss`.
      ends, reduction, name: see `PointwiseLoss`.

    Call arguments:
      y_true: float [batch, list_size], grades 0 .. K - 1; a negative one marks padding.
      y_pred: float [batch, list_size], scores between the ends.

    Raises:
      ValueError: see `PointwiseLoss`.

    Example:
      >>> loss = SmoothOrdinalSearchLoss(theta=(0.2, 0.7))
      >>> round(float(loss([[2.0, 0.0]], [[0.5, 0.0]])), 4)  # ((0.7 - 0.5)^2 + 0) / 2
      0.02
    """

    def document_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        """Eq. 2 for each document: grade int [...], score float [...] -> float [...]."""
        lower, upper = self.band(grade, score)
        return tf.square(tf.nn.relu(score - upper)) + tf.square(tf.nn.relu(lower - score))
