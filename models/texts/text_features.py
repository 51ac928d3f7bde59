"""Transforms raw texts into the features of training, and single words for the exported model's explanations."""

from abc import ABC, abstractmethod
from typing import Any

import tensorflow as tf

from models.graphs import graph_function
from models.lists.ranking_lists import Column
from models.rankers.sparse_inner_product import SparseInnerProduct
from models.texts.tokens import tokenize, within_limit
from schemas.word_rules import WordRules


class TextFeatures(tf.Module, ABC):
    """The training's transformation of texts, saved with the model; its vocabularies become assets of the SavedModel.

    Attributes:
      rules: the rules for splitting texts into words.
    """

    rules: WordRules

    @abstractmethod
    def query_columns(self, texts: tf.Tensor) -> dict[str, Column]:
        """The query columns for texts, string [batch]."""

    @abstractmethod
    def document_columns(self, texts: tf.Tensor) -> dict[str, Column]:
        """The document columns for texts, string [documents]."""


def scored_words(text_features: TextFeatures, words: tf.Tensor) -> tuple[dict[str, Column], tf.Tensor]:
    """The document columns of single words, and whether each word lies within the limit on a document's length.

    Args:
      text_features: the training's transformation.
      words: the words of a document in order, string [words].

    Returns:
      the columns, whose rows beyond the limit are empty; and bool [words].
    """
    columns = _traced_once(text_features)(words)
    is_within = within_limit(tf.RaggedTensor.from_tensor(words[tf.newaxis]), text_features.rules)
    limited = tf.reduce_sum(tf.cast(is_within, tf.int64))
    ragged = {name: column for name, column in columns.items() if isinstance(column, tf.RaggedTensor)}
    return {**columns, **{name: _first_rows(column, limited) for name, column in ragged.items()}}, is_within


def term_counts(
    text_features: TextFeatures, channel: SparseInnerProduct | None, documents: tf.Tensor
) -> dict[str, tf.Tensor]:
    """Counts all terms and the unknown terms of documents within the limit on their length.

    A term is unknown if neither the channel of matching words nor the towers know it: only the same term in a query
    matches it.

    Args:
      text_features: the training's transformation.
      channel: the channel of matching words, whose terms are counted; None counts words.
      documents: string [batch].

    Returns:
      terms: int32 [batch].
      unknown: int32 [batch], at most `terms`.
    """
    words = tokenize(documents, text_features.rules)
    distinct, index = tf.unique(words.flat_values)
    is_known = tf.add_n(_lengths(_traced_once(text_features)(distinct))) > 0
    is_term = tf.ones_like(is_known)
    if channel:
        terms = channel.term_of(distinct, "document")
        is_term, is_known = terms != "", is_known | channel.knows(terms)

    def count(counts: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(words.with_flat_values(tf.gather(tf.cast(counts, tf.int32), index)), axis=1)

    return {"terms": count(is_term), "unknown": count(is_term & ~is_known)}


def _traced_once(text_features: TextFeatures) -> Any:
    """Returns `TextFeatures.document_columns`, traced once for any number of texts."""
    return graph_function(text_features.document_columns, input_signature=[tf.TensorSpec([None], tf.string)])


def _lengths(columns: dict[str, Column]) -> list[tf.Tensor]:
    """The number of ids of each text, int64 [texts] for each column."""
    return [tf.cast(ids.row_lengths(), tf.int64) for ids in columns.values() if isinstance(ids, tf.RaggedTensor)]


def _first_rows(column: tf.RaggedTensor, number: tf.Tensor) -> tf.RaggedTensor:
    """Empties all but the first rows of a column."""
    end = column.row_splits[number]
    return tf.RaggedTensor.from_row_splits(column.values[:end], tf.minimum(column.row_splits, end), validate=False)
