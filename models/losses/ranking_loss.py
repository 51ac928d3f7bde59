"""What every loss of ours is to a training: a loss of lists, which may learn, and may have figures to show."""

from abc import ABC, abstractmethod

import tensorflow as tf
from tensorflow import keras


class RankingLoss(keras.losses.Loss, ABC):
    """A loss of lists.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; a negative one marks padding.
      y_pred: float [batch, list_size], scores.
    """

    @abstractmethod
    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        """The loss of each list, float [batch]; 0 for a list of padding alone."""

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """What the loss itself learns; most learn nothing."""
        return []

    def figures(self) -> dict[str, float]:
        """What an epoch's history shows of the loss as it is now, by its names there; of most, nothing."""
        return {}
