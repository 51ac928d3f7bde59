"""Mean pooling of word embeddings and tanh (paper, sections 3.1 and 3.2)."""

from typing import Any

import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package="smooth_clir")
class MeanEmbedding(keras.layers.Layer):
    """The paper's average-pooling encoder: tanh of the mean of a text's word embeddings.

        v = tanh(1/t * sum_i E[token_i])

    The mean is over the t tokens there are, as the paper's text says (its authors' code divides by the padded length).
    A text without tokens has the zero vector. Source: arXiv:2011.00701, section 3.2.

    Args:
      vocabulary_size: rows of the embedding table.
      dim: length of a vector.
      initial_scale: standard deviation of the normal initial embeddings.
      seed: seeds them.

    Call arguments:
      tokens: int RaggedTensor [batch, (tokens)], each id in [0, vocabulary_size).

    Returns:
      float [batch, dim], each component in (-1, 1).
    """

    def __init__(
        self, vocabulary_size: int, dim: int, initial_scale: float = 0.1, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.dim = dim
        self.initial_scale = initial_scale
        self.seed = seed

    def build(self, input_shape: Any) -> None:
        """Creates the embedding table."""
        self.table = self.add_weight(
            name="table",
            shape=(self.vocabulary_size, self.dim),
            initializer=keras.initializers.RandomNormal(stddev=self.initial_scale, seed=self.seed),
        )
        super().build(input_shape)

    def call(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Encodes each text."""
        # One fused op, whose gradient holds the rows that occur and no others.
        mean = tf.sparse.segment_mean(
            self.table,
            tokens.values,
            tokens.value_rowids(),
            num_segments=tokens.nrows(),
            sparse_gradient=True,
        )
        return tf.tanh(mean)

    def get_config(self) -> dict[str, Any]:
        """The layer's arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "dim": self.dim,
            "initial_scale": self.initial_scale,
            "seed": self.seed,
        }
