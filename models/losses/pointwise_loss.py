"""What the losses of one document at a time share: thresholds, and the mean over a list's documents."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from models.losses.declarations import ENDS, theta_fault
from models.losses.ranking_loss import RankingLoss


class PointwiseLoss(RankingLoss, ABC):
    """The mean, over a list's documents, of a loss of each document's score and grade.

    A loss of this kind defines `document_loss`. With the thresholds theta_0 < theta_1 < ... < theta_K, grade y - 1 has
    the band [theta_{y-1}, theta_y] where a loss does not say otherwise (arXiv:2011.00701, section 3.4). The paper's
    theta_0 = -1 and theta_K = 1 are the ends of the cosine's scale; another scorer may have others.

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing between the ends.
      ends: theta_0 and theta_K, the lowest and the highest score that the scorer can give.
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades 0 .. K - 1; a negative one marks padding.
      y_pred: float [batch, list_size], scores between the ends.
      sample_weight: see `RankingLoss`; that of a document multiplies its loss before the mean, which stays one over
        the number of documents.

    Raises:
      ValueError: theta is empty or not increasing, or the ends are no numbers.
    """

    def __init__(self, theta: Sequence[float], ends: tuple[float, float] = ENDS, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        low, high = ends
        if not -math.inf < low < high < math.inf:
            raise ValueError(f"ends must be two finite numbers, the lower one first; got {list(ends)}.")
        if fault := theta_fault(theta, ends):
            raise ValueError(f"theta {fault}.")
        self.theta = tuple(float(threshold) for threshold in theta)
        self.ends = (float(low), float(high))
        self.bounds = (self.ends[0], *self.theta, self.ends[1])

    def list_loss(self, y_true: tf.Tensor, y_pred: tf.Tensor, weight: tf.Tensor | None) -> tf.Tensor:
        """The mean loss of each list's documents, float [batch]: see `RankingLoss`."""
        grade = tf.cast(y_true, y_pred.dtype)
        is_document = tf.cast(grade >= 0, y_pred.dtype)
        loss = self.document_loss(tf.cast(tf.maximum(grade, 0), tf.int32), y_pred)
        loss *= is_document if weight is None else weight
        return tf.math.divide_no_nan(tf.reduce_sum(loss, axis=-1), tf.reduce_sum(is_document, axis=-1))

    @abstractmethod
    def document_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        """The loss of each document: grade int [...], score float [...] -> float [...]."""

    def band(self, grade: tf.Tensor, score: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The lower and the upper end of each document's band, of the score's type."""
        bounds = self._bounds_as(score.dtype)
        return tf.gather(bounds, grade), tf.gather(bounds, grade + 1)

    def current_theta(self) -> list[float]:
        """theta_1 .. theta_{K-1}."""
        return list(self.theta)

    def _bounds_as(self, dtype: tf.DType) -> tf.Tensor:
        """theta_0 .. theta_K."""
        return tf.constant(self.bounds, dtype)

    def get_config(self) -> dict[str, Any]:
        """The loss's arguments."""
        return {**super().get_config(), "theta": list(self.theta), "ends": list(self.ends)}
