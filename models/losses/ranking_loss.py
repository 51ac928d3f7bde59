"""The base classes of losses: of lists, of their best documents, and of single documents with or without thresholds."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow import keras

from models.losses.settings import BANDS, ENDS, theta_fault
from schemas.training_history import THETA


class RankingLoss(keras.losses.Loss, ABC):
    """A loss of lists. A subclass defines `call`.

    Args:
      reduction, name: see `keras.losses.Loss`; without reduction a list has a single value.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; a negative one marks padding.
      y_pred: float [batch, list_size], scores.
    """

    @abstractmethod
    def call(self, y_true: Any, y_pred: Any) -> tf.Tensor:
        """Returns the loss of each list, float [batch]; 0 for a list without documents."""

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """The loss's own variables; empty for most losses."""
        return []

    def current_theta(self) -> list[float]:
        """Returns the current inner thresholds; empty for most losses."""
        return []

    def figures(self) -> dict[str, float]:
        """Returns the loss's figures for an epoch's history, by name; empty for most losses."""
        return {}


class TopGradeLoss(RankingLoss, ABC):
    """A loss of the documents of a list's highest grade above 0, against those of lower grades.

    A list's loss is the mean over the documents of the highest grade, or 0 if it has only one grade. A subclass defines
    `loss_of_each`. Arguments are those of `RankingLoss`.
    """

    def call(self, y_true: Any, y_pred: Any) -> tf.Tensor:
        """Returns the loss of each list, float [batch]."""
        scores = tf.convert_to_tensor(y_pred)
        grades = tf.cast(tf.convert_to_tensor(y_true), scores.dtype)
        highest = tf.maximum(tf.reduce_max(grades, axis=-1, keepdims=True), 1)
        is_document, is_lower = grades >= 0, (grades >= 0) & (grades < highest)
        counts = (grades == highest) & tf.reduce_any(is_lower, axis=-1, keepdims=True)
        losses = tf.where(counts, self.loss_of_each(scores, is_document, is_lower), 0)
        number = tf.reduce_sum(tf.cast(counts, scores.dtype), axis=-1)
        return tf.math.divide_no_nan(tf.reduce_sum(losses, axis=-1), number)

    @abstractmethod
    def loss_of_each(self, scores: tf.Tensor, is_document: tf.Tensor, is_lower: tf.Tensor) -> tf.Tensor:
        """Returns the loss of each document as if it had the highest grade: float [batch, list_size], all finite.

        Args:
          scores: float [batch, list_size].
          is_document: False for padding, bool [batch, list_size].
          is_lower: whether the document has a lower grade, bool [batch, list_size].
        """


class PointwiseLoss(RankingLoss, ABC):
    """The mean, over a list's documents, of a loss of each document's score and grade.

    A subclass defines `document_loss`. With the thresholds theta_0 < theta_1 < ... < theta_K, grade y - 1 has the band
    [theta_{y-1}, theta_y] unless a loss says otherwise (arXiv:2011.00701, section 3.4). The paper's theta_0 = -1 and
    theta_K = 1 are the ends of the cosine's scale; another scorer may have others.

    The highest grade has the last band. Binary grades have two thresholds with an unused band between them: with a
    single threshold, SOSL would be 0 if all documents scored exactly the threshold.

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing between the ends.
      top_grade: the highest grade; None: the number of thresholds.
      ends: theta_0 and theta_K, the lowest and the highest score that the scorer can give.
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades 0 .. K - 1; a negative one marks padding.
      y_pred: float [batch, list_size], scores between the ends.

    Raises:
      ValueError: theta is empty or not increasing, or the ends are not finite.
    """

    def __init__(
        self,
        theta: Sequence[float] = BANDS,
        top_grade: int | None = None,
        ends: tuple[float, float] = ENDS,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        low, high = ends
        if not -math.inf < low < high < math.inf:
            raise ValueError(f"ends must be two finite numbers, the lower one first; got {list(ends)}.")
        if fault := theta_fault(theta, ends):
            raise ValueError(f"theta {fault}.")
        self.theta = tuple(float(threshold) for threshold in theta)
        self.top_grade = len(self.theta) if top_grade is None else top_grade
        self.ends = (float(low), float(high))
        self.bounds = (self.ends[0], *self.theta, self.ends[1])

    def call(self, y_true: Any, y_pred: Any) -> tf.Tensor:
        """Returns the mean loss of each list's documents, float [batch]."""
        y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
        grade = tf.cast(y_true, y_pred.dtype)
        is_document = tf.cast(grade >= 0, y_pred.dtype)
        loss = self.document_loss(tf.cast(tf.maximum(grade, 0), tf.int32), y_pred) * is_document
        return tf.math.divide_no_nan(tf.reduce_sum(loss, axis=-1), tf.reduce_sum(is_document, axis=-1))

    @abstractmethod
    def document_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        """Returns the loss of each document: grade int [...], score float [...] -> float [...]."""

    def band(self, grade: tf.Tensor, score: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the lower and the upper end of each document's band, in the score's type."""
        bounds = self._bounds_as(score.dtype)
        row = tf.where(grade < self.top_grade, grade, len(self.theta))
        return tf.gather(bounds, row), tf.gather(bounds, row + 1)

    def current_theta(self) -> list[float]:
        """Returns theta_1 .. theta_{K-1}."""
        return list(self.theta)

    def _bounds_as(self, dtype: tf.DType) -> tf.Tensor:
        """Returns theta_0 .. theta_K."""
        return tf.constant(self.bounds, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the loss's arguments."""
        return {
            **super().get_config(),
            "theta": list(self.theta),
            "top_grade": self.top_grade,
            "ends": list(self.ends),
        }


class BandLoss(PointwiseLoss, ABC):
    """A loss of each document's score and the ends of its grade's band, with thresholds that may be learned.

    Learned thresholds keep their order by construction: the widths of the K bands are shares of the scale,

        theta_y = theta_0 + (theta_K - theta_0) * sum_{i <= y} softmax(z)_i,

    with z trainable, initialised with the argument theta.

    Source: appendix A.2 of arXiv:2011.00701, where the thresholds are also learned; the parametrisation is ours.

    Nothing in the loss keeps learned thresholds apart: SOSL is 0 within a band, however narrow. On `ntrex_en_fr` (seed
      1)
    its (0.2, 0.7) became (0.02, 0.09) in the first epoch and (0.18, 0.28) in the twentieth, with a training loss of
    3e-9. The thresholds of proportional odds became (0.99, 0.996) in the first epoch and later approached 1: most
    documents are NR, and a wider band costs them less.

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing between the ends; initial values where
        they are learned.
      learn_theta: whether the thresholds are learned. If so, the loss is made within `strategy.scope()`.
      ends, reduction, name: see `PointwiseLoss`; the ends are not learned.

    Raises:
      ValueError: see `PointwiseLoss`.
    """

    def __init__(self, theta: Sequence[float] = BANDS, learn_theta: bool = False, **kwargs: Any) -> None:
        super().__init__(theta, **kwargs)
        self.learn_theta = learn_theta
        if learn_theta:
            widths = [high - low for low, high in pairwise(self.bounds)]
            self._z = tf.Variable(np.log(widths), dtype=tf.float32, name="theta")

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """z, where the thresholds are learned."""
        return [self._z] if self.learn_theta else []

    def figures(self) -> dict[str, float]:
        """Returns learned thresholds, as `theta/1`, `theta/2`, ..."""
        theta = self.current_theta() if self.learn_theta else []
        return {f"{THETA}{y}": threshold for y, threshold in enumerate(theta, 1)}

    def current_theta(self) -> list[float]:
        """Returns the current thresholds."""
        theta: list[float] = self._bounds_as(tf.float64).numpy()[1:-1].tolist()
        return theta

    def _bounds_as(self, dtype: tf.DType) -> tf.Tensor:
        if not self.learn_theta:
            return super()._bounds_as(dtype)
        low, high = self.ends
        inner = low + (high - low) * tf.cumsum(tf.nn.softmax(tf.cast(self._z, dtype)))[:-1]
        return tf.concat([[low], inner, [high]], axis=0)

    def get_config(self) -> dict[str, Any]:
        """Returns the loss's arguments."""
        return {**super().get_config(), "learn_theta": self.learn_theta}
