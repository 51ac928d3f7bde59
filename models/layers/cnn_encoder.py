"""Convolution over word trigrams, and their maximum (the paper's baseline DSSM-CNN, section 5)."""

from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.layers.text_encoder import TextEncoder


@keras.utils.register_keras_serializable(package="smooth_clir")
class CnnEncoder(TextEncoder):
    """DSSM-CNN: filters over each word and its two neighbours, the maximum over the text, and a dense layer.

        h_i = tanh([E[token_{i-1}]; E[token_i]; E[token_{i+1}]] W)    zero vectors beyond the text's ends
        v = tanh(max_i(h_i) U)                                        max_i of each filter

    Without biases, as in the source: Shen et al. 2014, "Learning semantic representations using convolutional neural
    networks for web search", eqs. 1 to 3. Its words are letter trigrams; ours have embeddings, as in arXiv:2011.00701.
    Other arguments, input and output are those of `TextEncoder`.

    Args:
      filters: columns of W.
    """

    def __init__(self, vocabulary_size: int, dim: int, *args: Any, filters: int = 300, **kwargs: Any) -> None:
        super().__init__(vocabulary_size, dim, *args, **kwargs)
        self.filters = filters

    def build(self, input_shape: Any) -> None:
        """Creates the weights."""
        super().build(input_shape)
        self.convolution, self.projection = (
            self.add_weight(
                name=name, shape=shape, initializer=keras.initializers.GlorotUniform(seed=self._seed_of(name))
            )
            for name, shape in (
                ("convolution", (3 * self.dim, self.filters)),
                ("projection", (self.filters, self.dim)),
            )
        )

    def call(self, tokens: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Encodes each text."""
        features = convolve_trigrams(
            tokens.with_values(self._words(self.table, tokens.values, training)), self.convolution
        )
        text = tokens.value_rowids()
        largest = tf.math.unsorted_segment_max(features, text, tokens.nrows())
        # tanh increases, so it commutes with the maximum.
        pooled = tf.where(tf.equal(tokens.row_lengths(), 0)[:, tf.newaxis], 0.0, tf.tanh(largest))
        return tf.tanh(tf.matmul(pooled, self.projection))

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "filters": self.filters}


def convolve_trigrams(words: tf.RaggedTensor, kernel: tf.Tensor) -> tf.Tensor:
    """Returns the values of filters over each word and its two neighbours, with zero vectors beyond a text's ends.

    Args:
      words: embeddings, float [batch, (words), dim].
      kernel: the filters, float [3 * dim, filters].

    Returns:
      float [words, filters], for the words of all texts in a row.
    """
    # All texts in a row without padding: two to three times as fast as a convolution over padded texts.
    values, text = words.values, words.value_rowids()
    row = tf.range(tf.size(text, text.dtype))
    is_first = tf.equal(row, tf.gather(words.row_starts(), text))
    is_last = tf.equal(row + 1, tf.gather(words.row_limits(), text))
    before = tf.where(is_first[:, tf.newaxis], 0.0, tf.roll(values, 1, axis=0))
    after = tf.where(is_last[:, tf.newaxis], 0.0, tf.roll(values, -1, axis=0))
    return tf.matmul(tf.concat([before, values, after], axis=1), kernel)
