"""The inner product as a similarity, for comparison with smooth cosine."""

import math
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.layers.similarity import Similarity


@keras.utils.register_keras_serializable(package="smooth_clir")
class DotProduct(Similarity):
    """Inner product of query and document.

        score = <q, d>

    With components of magnitude c at most, scores lie within [-dim c^2, dim c^2], and the gradient, which is the other
    vector, is at most sqrt(dim) c long.

    Args:
      dim: length of a vector.
      largest_component: c, which the encoder declares; infinite where nothing bounds the components.

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

    def __init__(self, dim: int, largest_component: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dim = dim
        self.largest_component = largest_component

    def query_vector(self, query: tf.Tensor) -> tf.Tensor:
        """Returns the query itself."""
        return query

    def document_vector(self, document: tf.Tensor) -> tf.Tensor:
        """Returns the document itself."""
        return document

    def document_divisor(self, document: tf.Tensor) -> tf.Tensor:
        """Returns 1."""
        return tf.ones_like(document[..., :1])

    @property
    def score_range(self) -> tuple[float, float]:
        """-dim c^2 and dim c^2."""
        largest = float(self.dim * self.largest_component**2)
        return -largest, largest

    @property
    def gradient_bound(self) -> float:
        """sqrt(dim) c."""
        return math.sqrt(self.dim) * self.largest_component

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "dim": self.dim, "largest_component": self.largest_component}
