"""A bidirectional LSTM over the words (the paper's baseline DSSM-LSTM, section 5)."""

from typing import Any, Final

import tensorflow as tf
from tensorflow import keras

from models.layers.text_encoder import TextEncoder

_GROUPS: Final = 4
"""Number of groups of texts of similar length in a batch; on verses one group and eight groups were slower."""


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
        forward, backward = (
            _recurrent(
                units,
                kernel_initializer=keras.initializers.GlorotUniform(self._seed_of(f"{direction}/kernel")),
                recurrent_initializer=keras.initializers.Orthogonal(seed=self._seed_of(f"{direction}/recurrent")),
                go_backwards=direction == "backward",
                dtype=self.dtype,
            )
            for direction in ("forward", "backward")
        )
        self.lstm = keras.layers.Bidirectional(forward, backward_layer=backward, name="lstm", dtype=self.dtype)

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
        # A loop runs to the end of its longest text, so shorter texts get loops of their own.
        by_length = tf.argsort(tokens.row_lengths(), stable=True)
        ordered, ends = tf.gather(words, by_length), tf.size(by_length) * tf.range(_GROUPS + 1) // _GROUPS

        def add_states(group: tf.Tensor, states: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            return group + 1, states.write(group, self._states(ordered[ends[group] : ends[group + 1]]))

        of_groups = tf.TensorArray(self.dtype, _GROUPS, element_shape=[None, 2 * self.units], infer_shape=False)
        _, of_groups = tf.while_loop(lambda group, _: group < _GROUPS, add_states, (tf.constant(0), of_groups))
        states = tf.gather(of_groups.concat(), tf.argsort(by_length))
        return tf.tanh(tf.matmul(states, self.projection))

    def _states(self, words: tf.RaggedTensor) -> tf.Tensor:
        """Returns the final states of both directions: float [texts, (words), dim] -> [texts, 2 * units]."""
        # Keras's loop needs a step, even where no text has a word.
        length = tf.maximum(words.bounding_shape(axis=1), 1)
        padded = words.to_tensor(shape=tf.stack([-1, length, self.dim]))
        mask = tf.sequence_mask(words.row_lengths(), length)
        return self.lstm(tf.ensure_shape(padded, [None, None, self.dim]), mask=mask)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "units": self.units}


def _recurrent(units: int, go_backwards: bool, dtype: Any, **initializers: Any) -> keras.layers.Layer:
    """Returns an LSTM of one direction."""
    if tf.config.list_logical_devices("GPU"):
        return keras.layers.LSTM(units, go_backwards=go_backwards, name="lstm", dtype=dtype, **initializers)
    # The same sums; Keras's layer is traced twice, with and without cuDNN, and its steps take a fifth longer.
    cell = keras.layers.LSTMCell(units, dtype=dtype, **initializers)
    return keras.layers.RNN(cell, go_backwards=go_backwards, name="lstm", dtype=dtype)
