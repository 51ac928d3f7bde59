"""The log likelihood of the MR document among its list (Mitra, Diaz and Craswell 2017)."""

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import TopGradeLoss


@keras.utils.register_keras_serializable(package="smooth_clir")
class LogLikelihoodLoss(TopGradeLoss):
    """The negative logarithm of the MR document's probability in a softmax over the list's scores.

        loss = -log(exp(r_MR) / sum_j exp(r_j))    j: all documents of the list

    MR is a document of the list's highest grade above 0, or the mean over several; 0 for a list without such a
    document, or without documents of lower grades. Source: Mitra et al. 2017, "Learning to match using local and
    distributed representations of text for web search", who draw four documents for each relevant one: see
    `models.objectives.drawn`.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; negative for padding.
      y_pred: float [batch, list_size], scores.

    Example:
      >>> round(float(LogLikelihoodLoss()([[2.0, 1.0, 0.0]], [[0.5, 0.5, 0.5]])), 4)  # log 3
      1.0986
    """

    def loss_of_each(self, scores: tf.Tensor, is_document: tf.Tensor, is_lower: tf.Tensor) -> tf.Tensor:
        """Returns the negative logarithm of each document's probability."""
        return -tf.nn.log_softmax(tf.where(is_document, scores, scores.dtype.min))
