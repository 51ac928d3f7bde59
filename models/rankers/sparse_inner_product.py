"""Scorers by the inner product of weighted terms, which an inverted index can search."""

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple, TypeAlias, final

import tensorflow as tf

from models.rankers.scorer import FixedScorer
from schemas import features as f

Role: TypeAlias = Literal["query", "document"]


class Parts(NamedTuple):
    """The parts of a score, by pairs of terms."""

    query_term: tf.Tensor
    """string [entries]."""
    document_term: tf.Tensor
    """string [entries]: a term of the document that matches the query's term."""
    part: tf.Tensor
    """float [entries]; their sum is the score."""


class Translations(NamedTuple):
    """Weighted translations of terms."""

    query_term: tf.Tensor
    """string [entries]."""
    document_term: tf.Tensor
    """string [entries]."""
    weight: tf.Tensor
    """float [entries]."""


class SparseInnerProduct(FixedScorer, ABC):
    """Scores by the inner product of a query's terms and a document's, so that an inverted index can search them.

        score = sum over the terms of both of query_weight * document_weight

    A scorer defines `query_terms`, `document_terms` and `knows`; where terms are not words, also `term_of`; and where a
    document's term may answer another term of a query, `parts` and `translations`.
    """

    @abstractmethod
    def query_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns distinct terms of queries (string [batch]) and their weights: string and float [batch, (terms)]."""

    @abstractmethod
    def document_terms(self, texts: tf.Tensor, own: bool = False) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns distinct terms of documents and their weights.

        Args:
          texts: string [documents].
          own: whether to take only terms of the document itself, without translations, to compare documents.

        Returns:
          string and float [documents, (terms)].
        """

    @abstractmethod
    def knows(self, terms: tf.Tensor) -> tf.Tensor:
        """Returns whether the scorer knows terms: string [terms] -> bool [terms]."""

    @final
    def known_share(self, queries: tf.Tensor) -> tf.Tensor:
        """Returns the share of each query's distinct terms that are known: string [batch] -> float [batch]."""
        terms, _ = self.query_terms(queries)
        known = terms.with_flat_values(tf.cast(self.knows(terms.flat_values), tf.float32))
        return tf.math.divide_no_nan(tf.reduce_sum(known, axis=1), tf.cast(terms.row_lengths(), tf.float32))

    def term_of(self, words: tf.Tensor, role: Role) -> tf.Tensor:
        """Returns the term of each word of a query or document, string [words], or ""; here the word itself."""
        return words

    def parts(self, query: tf.Tensor, document: tf.Tensor) -> Parts:
        """Returns the parts of the score of a document (a string) for a query (a string)."""
        query_terms, query_weights = (row[0] for row in self.query_terms(query[tf.newaxis]))
        document_terms, document_weights = (row[0] for row in self.document_terms(document[tf.newaxis]))
        at = tf.where(query_terms[:, tf.newaxis] == document_terms)
        terms = tf.gather(query_terms, at[:, 0])
        return Parts(terms, terms, tf.gather(query_weights, at[:, 0]) * tf.gather(document_weights, at[:, 1]))

    def translations(self, queries: tf.Tensor) -> Translations:
        """Returns the translations of the terms of queries (string [batch]); here only each term itself."""
        terms = tf.unique(self.query_terms(queries)[0].flat_values)[0]
        return Translations(terms, terms, tf.ones(tf.shape(terms)))

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from the same terms that the exported model gives."""
        queries, query_weights = self.query_terms(features[f.QUERY_TEXT])  # [lists, (terms)]
        documents, document_weights = self.document_terms(features[f.DOC_TEXT])  # [documents, (terms)]
        index = features[f.DOCUMENT_INDEX]  # [lists, list_size]
        lists, list_size = tf.shape(index, tf.int64)[0], tf.shape(index, tf.int64)[1]

        # Number the distinct terms of both sides.
        distinct, number = tf.unique(tf.concat([queries.flat_values, documents.flat_values], axis=0), tf.int64)
        query_numbers, doc_numbers = tf.split(number, [tf.size(queries.flat_values), tf.size(documents.flat_values)])
        size = tf.size(distinct, tf.int64)

        # Query weights as one dense row of [lists * size].
        weight_of = tf.scatter_nd(
            (queries.value_rowids() * size + query_numbers)[:, tf.newaxis], query_weights.flat_values, [lists * size]
        )

        # The terms of each list's documents, [lists * list_size, (terms)], and the products of their weights.
        document_rows = tf.reshape(tf.maximum(index, 0), [-1])
        rows = tf.gather(documents.with_flat_values(doc_numbers), document_rows)
        products = tf.gather(document_weights, document_rows).flat_values * tf.gather(
            weight_of, rows.value_rowids() // list_size * size + rows.flat_values
        )
        sums = tf.math.unsorted_segment_sum(products, rows.value_rowids(), lists * list_size)
        return tf.reshape(sums, [lists, list_size])
