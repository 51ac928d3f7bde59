"""A bidirectional LSTM over the words (the paper's baseline DSSM-LSTM, section 5)."""

from collections.abc import Callable
from typing import Any, Final

import tensorflow as tf
from tensorflow import keras

from models.layers.text_encoder import TextEncoder
from models.layers.word_embeddings import seed_of

_GROUPS: Final = 4
"""Number of groups of texts of similar length in a batch; on verses, one and eight groups were slower."""


@keras.utils.register_keras_serializable(package="smooth_clir")
class LstmEncoder(TextEncoder):
    """DSSM-LSTM: the final states of an LSTM in each direction, and a dense layer.

        v = tanh([forward LSTM after the last word; backward LSTM after the first word] U)

    The LSTMs are Keras's, without the peepholes of the source: Palangi et al. 2016, "Deep sentence embedding using long
    short-term memory networks". arXiv:2011.00701 speaks of "the first hidden state for the forward LSTM and the last
    hidden state for the backward LSTM"; we read the states that have seen the whole text. U has no bias, so that a text
    without tokens has the zero vector. Other arguments, input and output are those of `TextEncoder`.

    Args:
      units: length of a state, in each direction.
    """

    def __init__(self, vocabulary_size: int, dim: int, *args: Any, units: int = 64, **kwargs: Any) -> None:
        super().__init__(vocabulary_size, dim, *args, **kwargs)
        self.units = units
        self.lstm = bidirectional_lstm(units, self.seed, self.dtype)

    def build(self, input_shape: Any) -> None:
        """Creates the weights."""
        super().build(input_shape)
        self.lstm.build((None, None, self.dim))
        self.projection = self.add_weight(
            name="projection",
            shape=(2 * self.units, self.dim),
            initializer=keras.initializers.GlorotUniform(seed=self._seed_of("projection")),
        )

    def call(self, tokens: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Encodes each text."""
        words = tokens.with_values(self._words(self.table, tokens.values, training))
        states = encode_by_length(words, self.lstm, 2 * self.units)
        return tf.tanh(tf.matmul(states, self.projection))

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "units": self.units}


def bidirectional_lstm(units: int, seed: int, dtype: Any, **arguments: Any) -> keras.layers.Bidirectional:
    """Returns an LSTM in both directions, named `lstm`: float [texts, words, dim] -> [texts, 2 * units].

    Args:
      units: length of a state, in each direction.
      seed: seeds the initial weights.
      dtype: the layer's type.
      **arguments: further arguments of `keras.layers.RNN`.
    """
    forward, backward = (
        _recurrent(
            units,
            kernel_initializer=keras.initializers.GlorotUniform(seed_of(seed, f"{direction}/kernel")),
            recurrent_initializer=keras.initializers.Orthogonal(seed=seed_of(seed, f"{direction}/recurrent")),
            go_backwards=direction == "backward",
            dtype=dtype,
            arguments=arguments,
        )
        for direction in ("forward", "backward")
    )
    return keras.layers.Bidirectional(forward, backward_layer=backward, name="lstm", dtype=dtype)


def encode_by_length(words: tf.RaggedTensor, encode: Callable[..., tf.Tensor], width: int) -> tf.Tensor:
    """Encodes texts in groups of similar length, because a loop over words runs to the end of its longest text.

    Args:
      words: embeddings, float [texts, (words), dim].
      encode: from padded words, float [some texts, words, dim], and `mask`, bool [some texts, words], to float
        [some texts, width]; its weights exist already.
      width: see `encode`.

    Returns:
      float [texts, width].
    """
    order = tf.argsort(words.row_lengths(), stable=True)
    ordered, ends = tf.gather(words, order), tf.size(order) * tf.range(_GROUPS + 1) // _GROUPS

    def add_group(group: tf.Tensor, encoded: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
        return group + 1, encoded.write(group, encode_padded(ordered[ends[group] : ends[group + 1]], encode))

    states = tf.TensorArray(words.dtype, _GROUPS, element_shape=[None, width], infer_shape=False)
    _, states = tf.while_loop(lambda group, _: group < _GROUPS, add_group, (tf.constant(0), states))
    return tf.gather(states.concat(), tf.argsort(order))


def encode_padded(words: tf.RaggedTensor, encode: Callable[..., tf.Tensor]) -> tf.Tensor:
    """Encodes texts that are padded to the longest of them; arguments and result are those of `encode_by_length`."""
    # Keras's loop needs a step, even where no text has a word.
    length, dim = tf.maximum(words.bounding_shape(axis=1), 1), words.shape[-1]
    padded = words.to_tensor(shape=tf.stack([-1, length, dim]))
    mask = tf.sequence_mask(words.row_lengths(), length)
    return encode(tf.ensure_shape(padded, [None, None, dim]), mask=mask)


def _recurrent(
    units: int, go_backwards: bool, dtype: Any, arguments: dict[str, Any], **initializers: Any
) -> keras.layers.Layer:
    """Returns an LSTM of one direction."""
    arguments = {**arguments, "go_backwards": go_backwards, "name": "lstm", "dtype": dtype}
    if tf.config.list_logical_devices("GPU"):
        return keras.layers.LSTM(units, **initializers, **arguments)
    # Computes the same; Keras's LSTM is traced twice, with and without cuDNN, and its steps take a fifth longer.
    return keras.layers.RNN(keras.layers.LSTMCell(units, dtype=dtype, **initializers), **arguments)
