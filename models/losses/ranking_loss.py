"""What every loss of ours is to a training: a loss of lists, which may be weighted, may learn, and may have figures."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow import keras

from models.losses.declarations import ENDS, theta_fault
from schemas.training_history import THETA


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


class BandLoss(PointwiseLoss, ABC):
    """A loss of each document's score and of the ends of its grade's band, which may be learned.

    Learned thresholds keep their order by construction: the widths of the K bands are shares of the scale,

        theta_y = theta_0 + (theta_K - theta_0) * sum_{i <= y} softmax(z)_i,

    with z trainable, and first such that theta is what is given.

    Source: appendix A.2, where the thresholds are part of what is learned; the parametrisation is ours.

    Nothing but the data holds learned thresholds apart: SOSL is 0 within a band, however narrow it and its neighbours
    are. On `ntrex_en_fr` (seed 1) its (0.2, 0.7) went to (0.02, 0.09) in the first epoch and to (0.18, 0.28) by the
    twentieth, with a training loss of 3e-9. Those of proportional odds went to (0.99, 0.996) in the first epoch and
    on towards 1: most documents are NR, and a wider band costs them less.

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing between the ends; where they are learned,
        the first ones.
      learn_theta: whether they are learned. If so, the loss is made within `strategy.scope()`.
      ends, reduction, name: see `PointwiseLoss`; the ends are not learned.

    Raises:
      ValueError: see `PointwiseLoss`.
    """

    def __init__(self, theta: Sequence[float], learn_theta: bool = False, **kwargs: Any) -> None:
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
        """The thresholds, `theta/1` on, where they are learned."""
        theta = self.current_theta() if self.learn_theta else []
        return {f"{THETA}{y}": threshold for y, threshold in enumerate(theta, 1)}

    def current_theta(self) -> list[float]:
        """The thresholds as they are now."""
        theta: list[float] = self._bounds_as(tf.float64).numpy()[1:-1].tolist()
        return theta

    def _bounds_as(self, dtype: tf.DType) -> tf.Tensor:
        if not self.learn_theta:
            return super()._bounds_as(dtype)
        low, high = self.ends
        inner = low + (high - low) * tf.cumsum(tf.nn.softmax(tf.cast(self._z, dtype)))[:-1]
        return tf.concat([[low], inner, [high]], axis=0)

    def get_config(self) -> dict[str, Any]:
        """The loss's arguments."""
        return {**super().get_config(), "learn_theta": self.learn_theta}
