"""The hinge of the MR document against the worst mistake (Tan, Xiang and Zhou 2015)."""

from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import TopGradeLoss


@keras.utils.register_keras_serializable(package="smooth_clir")
class WorstHingeLoss(TopGradeLoss):
    """Hinge of the difference of the MR document's score and the highest score of a lower grade.

        loss = relu(margin - r_MR + max_j r_j)    j: the documents of grades below that of the MR document

    MR is a document of the list's highest grade above 0, or the mean over several; 0 for a list without such a
    document, or without documents of lower grades. Source: Tan et al. 2015, arXiv:1511.04108, who draw wrong answers
    and train on the one with the highest score: see `models.objectives.drawn`.

    Args:
      margin: float >= 0, in scores.
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; a negative one marks padding.
      y_pred: float [batch, list_size], scores.

    Raises:
      ValueError: margin is negative.

    Example:
      >>> round(float(WorstHingeLoss(margin=0.2)([[2.0, 1.0, 0.0]], [[0.5, 0.1, 0.4]])), 4)  # 0.2 - 0.5 + 0.4
      0.1
    """

    def __init__(self, margin: float = 0.2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not margin >= 0:
            raise ValueError(f"margin must be >= 0; got {margin}.")
        self.margin = float(margin)

    def loss_of_each(self, scores: tf.Tensor, is_document: tf.Tensor, is_lower: tf.Tensor) -> tf.Tensor:
        """Returns the hinge of each document against the highest score of a lower grade."""
        worst = tf.reduce_max(tf.where(is_lower, scores, scores.dtype.min), axis=-1, keepdims=True)
        return tf.nn.relu(self.margin - scores + worst)

    def get_config(self) -> dict[str, Any]:
        """Returns the loss's arguments."""
        return {**super().get_config(), "margin": self.margin}
