"""Which words of a document are within the limit on its length."""

import tensorflow as tf

from models.graph_function import graph_function
from models.lists import Column
from models.text_features import TextFeatures


def scored_words(text_features: TextFeatures, words: tf.Tensor) -> tuple[dict[str, Column], tf.Tensor]:
    """The document columns of each word by itself, and whether the word is within the limit of a document's length.

    The transformation alone knows the limit: it shows in what it leaves of a text of as many words, each the same that
    it knows. Where it knows no word of a document, no limit shows, and no word adds to the score.

    Args:
      text_features: the training's own transformation, of which each word is a text of its own.
      words: those of one document in its order, string [words].

    Returns:
      the columns, whose rows hold nothing beyond the limit; and bool [words].
    """
    # Traced once for the two.
    of_documents = graph_function(text_features.of_documents, input_signature=[tf.TensorSpec([None], tf.string)])
    columns = of_documents(words)
    known = tf.where(tf.add_n(_lengths(columns)) > 0)[:1, 0]
    same = tf.strings.reduce_join(tf.repeat(tf.gather(words, known), tf.size(words)), separator=" ")
    number = tf.size(words, tf.int64)
    limit = tf.reduce_max(_lengths(of_documents(same[tf.newaxis])))
    limit = tf.where(tf.size(known) > 0, limit, number)
    within = {name: _first_rows(one, limit) for name, one in columns.items() if isinstance(one, tf.RaggedTensor)}
    return {**columns, **within}, tf.range(number) < limit


def _first_rows(column: tf.RaggedTensor, number: tf.Tensor) -> tf.RaggedTensor:
    """A column whose other rows are empty."""
    end = column.row_splits[number]
    return tf.RaggedTensor.from_row_splits(column.values[:end], tf.minimum(column.row_splits, end), validate=False)


def _lengths(columns: dict[str, Column]) -> list[tf.Tensor]:
    """How many ids each column has of each text, int64 [texts] a column."""
    return [
        tf.cast(column.row_lengths(), tf.int64) for column in columns.values() if isinstance(column, tf.RaggedTensor)
    ]
