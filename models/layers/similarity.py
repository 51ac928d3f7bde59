"""What every similarity offers besides its scores."""

from abc import ABC, abstractmethod

import tensorflow as tf
from tensorflow import keras


class Similarity(keras.layers.Layer, ABC):
    """A score that is the inner product of what it makes of each of the two vectors.

    A similarity defines `vector`; any maximum-inner-product index can search what it makes of documents. Query and
    document are outputs of tanh: their components lie within [-1, 1].

    Call arguments:
      query: float [batch, dim].
      documents: float [batch, list_size, dim].

    Returns:
      float [batch, list_size].
    """

    def call(self, query: tf.Tensor, documents: tf.Tensor) -> tf.Tensor:
        """Scores each document of each list against the list's query."""
        return tf.linalg.matvec(self.vector(documents), self.vector(query))

    @abstractmethod
    def vector(self, vectors: tf.Tensor) -> tf.Tensor:
        """The vectors whose inner products are the scores: float [..., dim] -> float [..., dim]."""

    @property
    @abstractmethod
    def gradient_bound(self) -> float:
        """What the norm of a score's gradient in either argument never exceeds; infinite where nothing bounds it."""

    @property
    @abstractmethod
    def padded_score(self) -> float:
        """What a place without a document scores: below every document's."""
