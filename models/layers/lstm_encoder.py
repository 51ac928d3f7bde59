"""A bidirectional LSTM over the words (the paper's baseline DSSM-LSTM, section 5)."""

from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.layers.text_encoder import TextEncoder


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
            keras.layers.LSTM(
                units,
                kernel_initializer=keras.initializers.GlorotUniform(self._seed_of(f"{direction}/kernel")),
                recurrent_initializer=keras.initializers.Orthogonal(seed=self._seed_of(f"{direction}/recurrent")),
                go_backwards=direction == "backward",
                name="lstm",
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
        # Keras's loop needs a step, even where no text has a token.
        length = tf.maximum(tokens.bounding_shape(axis=1), 1)
        words = tokens.with_values(self._words(self.table, tokens.values, training)).to_tensor(
            shape=tf.stack([-1, length, self.dim])
        )
        states = self.lstm(
            tf.ensure_shape(words, [None, None, self.dim]), mask=tf.sequence_mask(tokens.row_lengths(), length)
        )
        return tf.tanh(tf.matmul(states, self.projection))

    def get_config(self) -> dict[str, Any]:
        """The layer's arguments."""
        return {**super().get_config(), "units": self.units}
