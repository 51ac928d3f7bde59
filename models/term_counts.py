"""How many terms documents have, and how many of these a model does not know."""

import tensorflow as tf

from models.graph_function import graph_function
from models.sparse_inner_product import SparseInnerProduct
from models.text_features import TextFeatures
from models.tokens import tokenize


def term_counts(
    text_features: TextFeatures, channel: SparseInnerProduct | None, documents: tf.Tensor
) -> dict[str, tf.Tensor]:
    """Counts the terms of documents.

    A term is unknown where neither the channel of words that match has it, nor the towers its word: nothing that a
    query says can find it, but that very term.

    Args:
      text_features: the training's own transformation.
      channel: of words that match, whose terms are counted, within its limit on a document's length. None: words are,
        those of the whole text.
      documents: string [batch].

    Returns:
      terms: int32 [batch].
      unknown: int32 [batch], of these.
    """
    words = channel.document_words(documents) if channel else tokenize(documents)
    distinct, place = tf.unique(words.flat_values)
    # Each word as a text of its own.
    of_documents = graph_function(text_features.of_documents, input_signature=[tf.TensorSpec([None], tf.string)])
    ids = [one.row_lengths() for one in of_documents(distinct).values() if isinstance(one, tf.RaggedTensor)]
    is_known = tf.add_n([tf.cast(one, tf.int64) for one in ids]) > 0
    is_term = tf.ones_like(is_known)
    if channel:
        terms = channel.document_term_of(distinct)
        is_term, is_known = terms != "", is_known | channel.knows(terms)

    def count(of_word: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(words.with_flat_values(tf.gather(tf.cast(of_word, tf.int32), place)), axis=1)

    return {"terms": count(is_term), "unknown": count(is_term & ~is_known)}
