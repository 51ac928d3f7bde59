"""The base class of encoders with a table of word embeddings."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.layers.word_embeddings import WordEmbeddings


class TextEncoder(WordEmbeddings, ABC):
    """Encodes a text's words as a vector; a subclass defines `call`.

    A text without tokens has the zero vector: it scores 0, with finite gradients. Arguments are those of
    `WordEmbeddings`; `dim` is also the length of a text's vector, and `seed` also seeds the other initial weights.

    Call arguments:
      tokens: int RaggedTensor [batch, (tokens)], each id in [0, vocabulary_size).
      training: whether dropout acts.

    Returns:
      float [batch, dim]; the `largest_component` of the encoder's settings bounds its components.
    """

    @abstractmethod
    def call(self, tokens: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Encodes each text."""

    def word_parts(self, tokens: tf.RaggedTensor) -> tf.Tensor | None:
        """Returns each word's share of a text's vector, float [words, dim]; their sum is the vector.

        None, as here, if the vector is not a sum over words.

        Args:
          tokens: the ids of each word, int RaggedTensor [words, (tokens)].
        """
        return None

    def add_idf(self, name: str, terms: int, values: npt.NDArray[np.float32] | None) -> tf.Variable:
        """Creates an untrained weight of terms' inverse document frequencies, float [terms].

        Args:
          name: the weight's name.
          terms: number of terms.
          values: float [terms], not part of `get_config`; None: 1 each.
        """
        frequencies = np.ones(terms, np.float32) if values is None else values

        def initial(shape: Any, dtype: Any = None, **kwargs: Any) -> tf.Tensor:
            return tf.constant(frequencies, dtype)

        return self.add_weight(name=name, shape=(terms,), initializer=initial, trainable=False)
