"""How strongly a score may pull at the vectors it is made of."""

import tensorflow as tf
from tensorflow import keras


def largest_score_gradient(
    similarity: keras.layers.Layer, query: tf.Tensor, documents: tf.Tensor, mask: tf.Tensor
) -> tf.Tensor:
    """The largest norm of a score's gradient in its query's or its document's vector.

        max over pairs of max(|d score / d query|, |d score / d document|)

    Smooth cosine bounds it by 1 / epsilon (see `models.layers.smooth_cosine`); plain cosine does not.

    Args:
      similarity: the layer that scores.
      query: float [batch, dim].
      documents: float [batch, list_size, dim].
      mask: bool [batch, list_size], which places hold a document.

    Returns:
      float scalar; 0 where there is no pair.
    """
    one_each = tf.boolean_mask(documents, mask)[:, tf.newaxis]
    of_each = tf.repeat(query, tf.reduce_sum(tf.cast(mask, tf.int32), axis=1), axis=0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch((of_each, one_each))
        scores = similarity(of_each, one_each)
    # A pair's score depends on its own two vectors alone, so the gradient of the sum holds that of each.
    norms = [
        tf.norm(tf.reshape(part, [-1, query.shape[-1]]), axis=-1) for part in tape.gradient(scores, (of_each, one_each))
    ]
    return tf.reduce_max(tf.concat([*norms, [0.0]], axis=0))
