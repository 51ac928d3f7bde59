"""Smooth cosine similarity (arXiv:2011.00701, eq. 1)."""

import math
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.layers.similarity import Similarity


@keras.utils.register_keras_serializable(package="smooth_clir")
class SmoothCosine(Similarity):
    """Cosine of query and document, smoothed where either vector is short.

        score = <q, d> / ((|q| + epsilon) * (|d| + epsilon))

    With epsilon = 0 this is the plain cosine, and the zero vector scores 0 with gradient 0. The gradient in either
    argument is at most 1 / epsilon in norm: the paper proves 2 / epsilon, and the two terms of its bound point against
    each other. Source: arXiv:2011.00701, eq. (1) and appendix A.1.

    The score is computed as the inner product of the two vectors v / (|v| + epsilon), see `smooth_unit`.

    Args:
      epsilon: float >= 0, in the unit of the vectors' norms.

    Call arguments:
      query: float [batch, dim].
      documents: float [batch, list_size, dim].

    Returns:
      float [batch, list_size], each in [-1, 1].

    Raises:
      ValueError: epsilon is negative or not finite.

    Example:
      >>> query, documents = tf.constant([[3.0, 4.0]]), tf.constant([[[3.0, 4.0]]])
      >>> round(float(SmoothCosine(epsilon=1.0)(query, documents)[0, 0]), 4)  # 25 / (6 * 6)
      0.6944
    """

    def __init__(self, epsilon: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not (math.isfinite(epsilon) and epsilon >= 0):
            raise ValueError(f"epsilon must be >= 0 and finite; got {epsilon}.")
        self.epsilon = float(epsilon)

    def query_vector(self, query: tf.Tensor) -> tf.Tensor:
        """Returns q / (|q| + epsilon)."""
        return smooth_unit(query, self.epsilon)

    def document_vector(self, document: tf.Tensor) -> tf.Tensor:
        """Returns d / (|d| + epsilon)."""
        return smooth_unit(document, self.epsilon)

    def document_divisor(self, document: tf.Tensor) -> tf.Tensor:
        """Returns |d| + epsilon."""
        return _norm(document) + self.epsilon

    @property
    def score_range(self) -> tuple[float, float]:
        """-1 and 1."""
        return -1.0, 1.0

    @property
    def gradient_bound(self) -> float:
        """1 / epsilon."""
        return 1 / self.epsilon if self.epsilon else math.inf

    @property
    def padded_score(self) -> float:
        """-1."""
        return -1.0

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "epsilon": self.epsilon}


def smooth_unit(vectors: tf.Tensor, epsilon: float) -> tf.Tensor:
    """v / (|v| + epsilon), the vector whose inner products are smooth cosines; zero where it would be 0 / 0.

    Args:
      vectors: float [..., dim].
      epsilon: float >= 0.

    Returns:
      float [..., dim], each vector at most 1 in norm.
    """
    return tf.math.divide_no_nan(vectors, _norm(vectors) + epsilon)


def _norm(vectors: tf.Tensor) -> tf.Tensor:
    """|v|: float [..., dim] -> float [..., 1].

    Divides v by its largest component first, so that huge and tiny vectors do not overflow. The gradient at the zero
    vector is zero, where `tf.norm` has NaN.
    """
    largest = tf.stop_gradient(tf.reduce_max(tf.abs(vectors), axis=-1, keepdims=True))
    is_zero = tf.equal(largest, 0.0)
    scale = tf.where(is_zero, tf.ones_like(largest), largest)
    square = tf.reduce_sum(tf.square(vectors / scale), axis=-1, keepdims=True)
    return tf.where(is_zero, tf.zeros_like(square), scale * tf.sqrt(tf.where(is_zero, tf.ones_like(square), square)))
