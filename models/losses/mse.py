"""Mean squared error, one of the losses that the paper compares SOSL with (arXiv:2011.00701, Table 2)."""

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import PointwiseLoss


@keras.utils.register_keras_serializable(package="smooth_clir")
class MeanSquaredErrorLoss(PointwiseLoss):
    """MSE: the squared distance of a score to the middle of the band of its document's grade.

        loss(r, y) = (r - (theta_{y-1} + theta_y) / 2)^2,   theta_0 < theta_1 < ... < theta_K

    with the paper's y = 1 .. K for our grade y - 1. A list's loss is the mean over its documents. Source:
    arXiv:2011.00701, section 5, which leaves the targets open; the middles are those of its authors' code.

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing between the ends.
      ends, reduction, name: see `PointwiseLoss`.

    Call arguments:
      y_true: float [batch, list_size], grades 0 .. K - 1; a negative one marks padding.
      y_pred: float [batch, list_size], scores between the ends.

    Raises:
      ValueError: see `PointwiseLoss`.

    Example:
      >>> loss = MeanSquaredErrorLoss(theta=(0.2, 0.7))
      >>> round(float(loss([[2.0, 0.0]], [[0.5, 0.0]])), 5)  # ((0.5 - 0.85)^2 + (0 + 0.4)^2) / 2
      0.14125
    """

    def document_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        """The squared distance of each document: grade int [...], score float [...] -> float [...]."""
        lower, upper = self.band(grade, score)
        return tf.square(score - (lower + upper) / 2)
