"""The base class of similarities."""

from abc import ABC, abstractmethod
from typing import Final

import tensorflow as tf
from tensorflow import keras

_LOWEST: Final = -1e30
"""The score of padding where scores are unbounded; finite for JSON."""


class Similarity(keras.layers.Layer, ABC):
    """A score that is the inner product of functions of the query and of the document.

    A subclass defines `query_vector` and `document_vector`.

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
        """Returns the query's side of the inner product: float [..., dim] -> float [..., dim]."""

    @abstractmethod
    def document_vector(self, document: tf.Tensor) -> tf.Tensor:
        """Returns the document's side of the inner product: float [..., dim] -> float [..., dim]."""

    def document_divisor(self, document: tf.Tensor) -> tf.Tensor | None:
        """Returns the divisor of a document in `document_vector`: float [..., dim] -> float [..., 1].

        None, as here, if `document_vector` does not divide.
        """
        return None

    @property
    @abstractmethod
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest score, which may be infinite."""

    @property
    @abstractmethod
    def gradient_bound(self) -> float:
        """An upper bound on the norm of a score's gradient in either argument, which may be infinite."""

    @property
    def padded_score(self) -> float:
        """The score of padding, at most that of any document."""
        return padded_below(self.score_range[0])


def padded_below(lowest_score: float) -> float:
    """Returns a finite score for padding, below the score of any document."""
    return max(lowest_score - 1, _LOWEST)
