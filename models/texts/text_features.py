"""From raw texts to the features that training reads."""

from abc import ABC, abstractmethod

import tensorflow as tf

from models.graphs import graph_function
from models.lists.ranking_lists import Column
from models.rankers.scorer import SparseInnerProduct
from models.texts.tokens import tokenize


class TextFeatures(tf.Module, ABC):
    """The training's own transformation of texts, to be saved along with a model.

    It tracks its vocabularies, which become assets of the SavedModel.
    """

    @abstractmethod
    def of_queries(self, texts: tf.Tensor) -> dict[str, Column]:
        """The query columns that follow from texts, string [batch]."""

    @abstractmethod
    def of_documents(self, texts: tf.Tensor) -> dict[str, Column]:
        """The document columns that follow from texts, string [documents]."""


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
