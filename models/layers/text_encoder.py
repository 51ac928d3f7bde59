"""The base class of encoders, which have a table of word embeddings."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.layers.word_embeddings import WordEmbeddings


class TextEncoder(WordEmbeddings, ABC):
    """Turns a text's words into one vector; an encoder defines `call`.

    A text without tokens has the zero vector: it scores 0, with finite gradients. Arguments are those of
    `WordEmbeddings`; `dim` is also the length of a text's vector, and the seed also that of the other initial weights.

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
        """Returns each word's share of one text's vector, float [words, dim]; their sum is the vector.

        None where the vector is no sum over words, as here.

        Args:
          tokens: the ids of each word, int RaggedTensor [words, (tokens)].
        """
        return None

    def add_idf(self, name: str, terms: int, values: npt.NDArray[np.float32] | None) -> tf.Variable:
        """Creates the weight of terms' inverse document frequencies, float [terms], which training leaves as it is.

        Args:
          name: the weight's.
          terms: number of terms.
          values: float [terms], no part of the layer's configuration; None: 1 each.
        """
        frequencies = np.ones(terms, np.float32) if values is None else values

        def initial(shape: Any, dtype: Any = None, **kwargs: Any) -> tf.Tensor:
            return tf.constant(frequencies, dtype)

        return self.add_weight(name=name, shape=(terms,), initializer=initial, trainable=False)
