"""What every similarity offers besides its scores."""

from abc import ABC, abstractmethod

import tensorflow as tf
from tensorflow import keras


class Similarity(keras.layers.Layer, ABC):
    """A score that is the inner product of what it makes of each of the two vectors.

    A similarity defines `query_vector` and `document_vector`, which need not be the same function. Query and document
    are outputs of tanh: their components lie within [-1, 1].

    Call arguments:
      query: float [batch, dim].
      documents: float [batch, list_size, dim].

    Returns:
      float [batch, list_size].
    """

    def call(self, query: tf.Tensor, documents: tf.Tensor) -> tf.Tensor:
        """Scores each document of each list against the list's query."""
        return tf.linalg.matvec(self.document_vector(documents), self.query_vector(query))

    @abstractmethod
    def query_vector(self, query: tf.Tensor) -> tf.Tensor:
        """The vectors whose inner products with the documents' are the scores: float [..., dim] -> float [..., dim]."""

    @abstractmethod
    def document_vector(self, document: tf.Tensor) -> tf.Tensor:
        """The vectors whose inner products with the queries' are the scores: float [..., dim] -> float [..., dim]."""

    def document_divisor(self, document: tf.Tensor) -> tf.Tensor | None:
        """What `document_vector` divides a document by: float [..., dim] -> float [..., 1].

        None where it does something else, as here.
        """
        return None

    @property
    @abstractmethod
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score."""

    @property
    @abstractmethod
    def gradient_bound(self) -> float:
        """What the norm of a score's gradient in either argument never exceeds; infinite where nothing bounds it."""

    @property
    @abstractmethod
    def padded_score(self) -> float:
        """What a place without a document scores; no document scores less."""
