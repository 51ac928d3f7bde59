"""Proportional odds, one of the losses that the paper compares SOSL with (arXiv:2011.00701, Table 2: PO_S)."""

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import BandLoss


@keras.utils.register_keras_serializable(package="smooth_clir")
class ProportionalOddsLoss(BandLoss):
    """PO_S: the logistic penalty of a score at either end of the band of its document's grade.

        loss(r, y) = -log sigmoid(theta_y - r) - log(1 - sigmoid(theta_{y-1} - r))
                   = softplus(r - theta_y) + softplus(theta_{y-1} - r),   theta_0 < theta_1 < ... < theta_K

    with the paper's y = 1 .. K for our grade y - 1. It is SOSL with softplus instead of the squared relu, and positive
    even within the band. A list's loss is the mean over its documents.

    Source: the model is McCullagh 1980, as arXiv:2011.00701, section 5, cites it. Its likelihood would be
    sigmoid(theta_y - r) - sigmoid(theta_{y-1} - r), with theta_0 and theta_K infinite. We follow the authors' code: the
    immediate-threshold form (Rennie and Srebro 2005), which keeps the terms at -1 and 1.

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
      >>> loss = ProportionalOddsLoss(theta=(-0.5, 0.5))
      >>> round(float(loss([[1.0]], [[0.5]])), 4)  # log(1 + exp(0)) + log(1 + exp(-1))
      1.0064
    """

    def document_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        """The penalty of each document: grade int [...], score float [...] -> float [...]."""
        lower, upper = self.band(grade, score)
        return tf.nn.softplus(score - upper) + tf.nn.softplus(lower - score)
