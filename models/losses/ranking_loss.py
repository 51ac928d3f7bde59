"""What every loss of ours is to a training: a loss of lists, which may be weighted, may learn, and may have figures."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow import keras


class _Weighted(NamedTuple):
    """Grades, and weights of the documents: Keras hands `call` what it is given for y_true, and no weights."""

    y_true: Any
    weight: tf.Tensor


class RankingLoss(keras.losses.Loss, ABC):
    """A loss of lists. A loss of this kind defines `list_loss`.

    Weights come as Keras gives them. Those of lists multiply the loss of a list; what those of documents do within
    it, the loss says. The weight of padding does nothing. Weights of one give what no weights give, bit by bit.

    Args:
      reduction, name: see `keras.losses.Loss`; without reduction there is one value a list.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; a negative one marks padding.
      y_pred: float [batch, list_size], scores.
      sample_weight: float >= 0, of lists: [batch] or [batch, 1]; of documents: [batch, list_size]; or None.

    Raises:
      ValueError: the weights have another shape.
    """

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tf.Tensor:
        """The weighted loss, reduced."""
        if sample_weight is None:
            return super().__call__(y_true, y_pred)
        y_pred = tf.convert_to_tensor(y_pred)
        weight = tf.cast(sample_weight, y_pred.dtype)
        # The weight of a list of one document is the document's, too, which counts unless it is padding.
        if weight.shape.rank in (0, 1) or (weight.shape.rank == 2 and weight.shape[1] == 1 != y_pred.shape[1]):
            return super().__call__(y_true, y_pred, weight)
        if weight.shape.rank != 2 or not weight.shape.is_compatible_with(y_pred.shape):
            raise ValueError(
                f"sample_weight must be [batch] or [batch, 1], of lists, or [batch, list_size], of documents; "
                f"got {weight.shape} for scores {y_pred.shape}."
            )
        return super().__call__(_Weighted(y_true, weight), y_pred)

    def call(self, y_true: Any, y_pred: tf.Tensor) -> tf.Tensor:
        """The loss of each list, float [batch]."""
        y_true, weight = y_true if isinstance(y_true, _Weighted) else (y_true, None)
        y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
        if weight is not None:
            weight = tf.where(y_true >= 0, weight, tf.zeros_like(weight))
        return self.list_loss(y_true, y_pred, weight)

    @abstractmethod
    def list_loss(self, y_true: tf.Tensor, y_pred: tf.Tensor, weight: tf.Tensor | None) -> tf.Tensor:
        """The loss of each list, float [batch]; 0 for a list of padding alone.

        Args:
          y_true, y_pred: see above.
          weight: of documents, of the type of y_pred and 0 for padding: [batch, list_size]; None: all 1.
        """

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """What the loss itself learns; most learn nothing."""
        return []

    def current_theta(self) -> list[float]:
        """The inner thresholds as they are now; most losses have none."""
        return []

    def figures(self) -> dict[str, float]:
        """What an epoch's history shows of the loss as it is now, by its names there; of most, nothing."""
        return {}
