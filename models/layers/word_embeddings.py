"""A table of word embeddings, and dropout on them."""

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package="smooth_clir")
class WordEmbeddings(keras.layers.Layer):
    """Turns words into their embeddings.

    Args:
      vocabulary_size: rows of the embedding table.
      dim: length of a word's vector.
      initial_scale: standard deviation of the normal initial embeddings.
      seed: seeds the initial embeddings and dropout.
      dropout: share of the components of the word embeddings that are zero in a training step, in [0, 1); the others
        are divided by 1 - dropout. Draws come from a generator whose state a checkpoint saves.
      vectors: pre-trained vectors, float [words, dim], with which the first rows of the table start; not part of
        `get_config`, like other weights.
      train_table: whether training moves the table.

    Call arguments:
      tokens: int RaggedTensor [batch, (tokens)], each id in [0, vocabulary_size).
      training: whether dropout acts.

    Returns:
      the embeddings of the words of all texts in a row, float [words, dim].

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

    def call(self, tokens: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the words' embeddings."""
        return self._words(self.table, tokens.values, training)

    def _words(self, table: tf.Variable, ids: tf.Tensor, training: bool) -> tf.Tensor:
        """Returns the embeddings of the words of all texts in a row: int [words] -> float [words, dim]."""
        words = tf.gather(table, ids)
        if training and self.dropout:
            # A single draw per step: with draws of different sizes the states of replicas would diverge, and a
            # checkpoint holds only the first replica's state.
            words = tf.nn.experimental.stateless_dropout(words, self.dropout, self._generator.make_seeds(1)[:, 0])
        return words

    def _seed_of(self, part: str) -> int:
        """Returns a seed for the initial weights or draws of a part, different for all parts and encoders."""
        return seed_of(self.seed, part)

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


def seed_of(seed: int, part: str) -> int:
    """Returns a seed for the initial weights or draws of a layer's part."""
    return zlib.crc32(f"{seed}/{part}".encode()) >> 1
