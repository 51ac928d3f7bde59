"""A scorer whose score is an inner product of sparse vectors over terms, so that an inverted index can search them."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import tensorflow as tf

from models.scorer import Scorer
from schemas import features as f


class Parts(NamedTuple):
    """What a score is made of, an entry each."""

    query_term: tf.Tensor
    """string [entries]."""
    document_term: tf.Tensor
    """string [entries]: a term of the document that answers it."""
    part: tf.Tensor
    """float [entries], whose sum is the score."""


class Translations(NamedTuple):
    """What terms are translated to, an entry each."""

    query_term: tf.Tensor
    """string [entries]."""
    document_term: tf.Tensor
    """string [entries]."""
    weight: tf.Tensor
    """float [entries]."""


class CollectionStatistics(NamedTuple):
    """What the weights of terms come from: counts of a collection."""

    documents: tf.Tensor
    """int64: how many there are."""
    mean_length: tf.Tensor
    """float: of a document, in terms."""
    term: tf.Tensor
    """string [terms]."""
    document_frequency: tf.Tensor
    """float [terms]: the documents that hold the term, in part those that hold a translation of it."""


class SparseInnerProduct(Scorer, ABC):
    """Scores by the inner product of a query's terms and a document's.

        score = sum over the terms of both of query_weight * document_weight

    Its scores follow from the raw texts alone and are not trained, so that those of the lists on which a training is
    watched are computed once: they are the list column `word_score`. Other arguments are those of `Scorer`.
    """

    @abstractmethod
    def query_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Distinct terms of queries (string [batch]) and their weights: string and float [batch, (terms)]."""

    @abstractmethod
    def document_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Distinct terms of documents (string [documents]) and their weights: string and float [documents, (terms)]."""

    @abstractmethod
    def document_words(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """The words of documents (string [documents]) that count: string [documents, (words)]."""

    @abstractmethod
    def knows(self, terms: tf.Tensor) -> tf.Tensor:
        """Whether terms, string [terms], are among those of `statistics`: bool [terms]."""

    @abstractmethod
    def statistics(self) -> CollectionStatistics:
        """What the weights come from."""

    def query_term_of(self, words: tf.Tensor) -> tf.Tensor:
        """The term that each word of a query is, string [words], "" for one that is none; here the word itself."""
        return words

    def document_term_of(self, words: tf.Tensor) -> tf.Tensor:
        """The term that each word of a document is, string [words], "" for one that is none; here the word itself."""
        return words

    def own_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """As `document_terms`, of the terms alone that documents hold themselves: what two documents have in common."""
        return self.document_terms(texts)

    def parts(self, query: tf.Tensor, document: tf.Tensor) -> Parts:
        """What the score of a document (a string) for a query (a string) is made of."""
        asked, asked_weight = (row[0] for row in self.query_terms(query[tf.newaxis]))
        held, held_weight = (row[0] for row in self.document_terms(document[tf.newaxis]))
        at = tf.where(asked[:, tf.newaxis] == held)
        terms = tf.gather(asked, at[:, 0])
        return Parts(terms, terms, tf.gather(asked_weight, at[:, 0]) * tf.gather(held_weight, at[:, 1]))

    def translations(self, queries: tf.Tensor) -> Translations:
        """What the terms of queries (string [batch]) are translated to; here each to itself alone."""
        terms = tf.unique(self.query_terms(queries)[0].flat_values)[0]
        return Translations(terms, terms, tf.ones(tf.shape(terms)))

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """The scores that were computed before."""
        return features[f.WORD_SCORE]

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from the terms that the exported model gives, too."""
        asked, asked_weight = self.query_terms(features[f.QUERY_TEXT])
        held, held_weight = self.document_terms(features[f.DOC_TEXT])
        index = features[f.DOCUMENT_INDEX]
        lists, list_size = tf.shape(index, tf.int64)[0], tf.shape(index, tf.int64)[1]
        distinct, place = tf.unique(tf.concat([asked.flat_values, held.flat_values], axis=0), tf.int64)
        of_asked, of_held = tf.split(place, [tf.size(asked.flat_values), tf.size(held.flat_values)])
        size = tf.size(distinct, tf.int64)
        weight_of = tf.scatter_nd(
            (asked.value_rowids() * size + of_asked)[:, tf.newaxis], asked_weight.flat_values, [lists * size]
        )
        at_each_place = tf.reshape(tf.maximum(index, 0), [-1])
        rows = tf.gather(held.with_flat_values(of_held), at_each_place)
        products = tf.gather(held_weight, at_each_place).flat_values * tf.gather(
            weight_of, rows.value_rowids() // list_size * size + rows.flat_values
        )
        sums = tf.math.unsorted_segment_sum(products, rows.value_rowids(), lists * list_size)
        return tf.reshape(sums, [lists, list_size])
