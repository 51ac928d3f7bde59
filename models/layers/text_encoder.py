"""The base class of encoders: a table of word embeddings, and dropout on them."""

import zlib
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras


class TextEncoder(keras.layers.Layer, ABC):
    """Turns a text's words into one vector; an encoder defines `call`.

    A text without tokens has the zero vector: it scores 0, with finite gradients.

    Args:
      vocabulary_size: rows of the embedding table.
      dim: length of a word's and of a text's vector.
      initial_scale: standard deviation of the normal initial embeddings.
      seed: seeds them, the other initial weights and dropout.
      dropout: share of the components of the word embeddings that are zero in a training step, in [0, 1); the others
        are divided by 1 - dropout. Draws come from a generator whose state a checkpoint saves.
      vectors: pre-trained vectors, float [words, dim], with which the first rows of the table start; like any weight's
        values they are no part of the layer's configuration.
      train_table: whether training moves the table.

    Call arguments:
      tokens: int RaggedTensor [batch, (tokens)], each id in [0, vocabulary_size).
      training: whether dropout acts.

    Returns:
      float [batch, dim]; the encoder's entry in `models.choices.ENCODERS` declares the range of its components.

    Raises:
      ValueError: dropout lies outside [0, 1).
    """

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        initial_scale: float = 0.1,
        seed: int = 0,
        dropout: float = 0.0,
        vectors: npt.NDArray[np.float32] | None = None,
        train_table: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must lie in [0, 1); got {dropout}.")
        self.vocabulary_size = vocabulary_size
        self.dim = dim
        self.initial_scale = initial_scale
        self.seed = seed
        self.dropout = dropout
        self.train_table = train_table
        self._vectors = vectors
        if dropout:
            self._generator = tf.random.Generator.from_seed(self._seed_of("dropout"))

    def build(self, input_shape: Any) -> None:
        """Creates the embedding table."""
        self.table = self.add_weight(
            name="table",
            shape=(self.vocabulary_size, self.dim),
            initializer=self._initial_table,
            trainable=self.train_table,
        )
        super().build(input_shape)

    def _initial_table(self, shape: Any, dtype: Any = None, **kwargs: Any) -> tf.Tensor:
        random = keras.initializers.RandomNormal(stddev=self.initial_scale, seed=self.seed)(shape, dtype, **kwargs)
        return random if self._vectors is None else tf.concat([self._vectors, random[len(self._vectors) :]], axis=0)

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
        given = np.ones(terms, np.float32) if values is None else values

        def initial(shape: Any, dtype: Any = None, **kwargs: Any) -> tf.Tensor:
            return tf.constant(given, dtype)

        return self.add_weight(name=name, shape=(terms,), initializer=initial, trainable=False)

    def _words(self, table: tf.Variable, ids: tf.Tensor, training: bool) -> tf.Tensor:
        """Returns the embeddings of the words of all texts in a row: int [words] -> float [words, dim]."""
        words = tf.gather(table, ids)
        if training and self.dropout:
            # One draw a step: with draws of different sizes the states of two replicas would diverge, and a checkpoint
            # holds only the first replica's state.
            words = tf.nn.experimental.stateless_dropout(words, self.dropout, self._generator.make_seeds(1)[:, 0])
        return words

    def _seed_of(self, part: str) -> int:
        """Returns a seed for one part's initial weights or draws: no two parts, and no two encoders, start alike."""
        return zlib.crc32(f"{self.seed}/{part}".encode()) >> 1

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "dim": self.dim,
            "initial_scale": self.initial_scale,
            "seed": self.seed,
            "dropout": self.dropout,
            "train_table": self.train_table,
        }
