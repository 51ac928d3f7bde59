"""Mean pooling of word embeddings and tanh (paper, sections 3.1 and 3.2)."""

import tensorflow as tf
from tensorflow import keras

from models.layers.text_encoder import TextEncoder


@keras.utils.register_keras_serializable(package="smooth_clir")
class MeanEmbedding(TextEncoder):
    """The paper's average-pooling encoder: tanh of the mean of a text's word embeddings.

        v = tanh(1/t * sum_i E[token_i])

    The mean is over the t tokens there are, as the paper's text says (its authors' code divides by the padded length).
    Arguments, input and output are those of `TextEncoder`. Source: arXiv:2011.00701, section 3.2.
    """

    def call(self, tokens: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Encodes each text."""
        if training and self.dropout:
            words = self._words(tokens, training)
            return tf.tanh(tf.math.unsorted_segment_mean(words, tokens.value_rowids(), tokens.nrows()))
        # One fused op, whose gradient holds the rows that occur and no others.
        mean = tf.sparse.segment_mean(
            self.table,
            tokens.values,
            tokens.value_rowids(),
            num_segments=tokens.nrows(),
            sparse_gradient=True,
        )
        return tf.tanh(mean)
