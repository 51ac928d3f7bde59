"""The inner product as a similarity: what smooth cosine is compared with."""

import math
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.layers.similarity import Similarity


@keras.utils.register_keras_serializable(package="smooth_clir")
class DotProduct(Similarity):
    """Inner product of query and document.

        score = <q, d>

    Components within [-1, 1] give scores within [-dim, dim], and a gradient, the other vector, of at most sqrt(dim).

    Args:
      dim: length of a vector.

    Call arguments:
      query: float [batch, dim].
      documents: float [batch, list_size, dim].

    Returns:
      float [batch, list_size].

    Example:
      >>> query, documents = tf.constant([[1.0, 0.5]]), tf.constant([[[0.5, -1.0], [1.0, 1.0]]])
      >>> DotProduct(dim=2)(query, documents).numpy().tolist()
      [[0.0, 1.5]]
    """

    def __init__(self, dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dim = dim

    def query_vector(self, query: tf.Tensor) -> tf.Tensor:
        """The query itself."""
        return query

    def document_vector(self, document: tf.Tensor) -> tf.Tensor:
        """The document itself."""
        return document

    def document_divisor(self, document: tf.Tensor) -> tf.Tensor:
        """1."""
        return tf.ones_like(document[..., :1])

    @property
    def score_range(self) -> tuple[float, float]:
        """-dim and dim."""
        return -float(self.dim), float(self.dim)

    @property
    def gradient_bound(self) -> float:
        """sqrt(dim)."""
        return math.sqrt(self.dim)

    @property
    def padded_score(self) -> float:
        """-dim - 1: a document that is the query's opposite in every component scores -dim."""
        return self.score_range[0] - 1

    def get_config(self) -> dict[str, Any]:
        """The layer's arguments."""
        return {**super().get_config(), "dim": self.dim}
