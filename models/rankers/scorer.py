"""A scorer: one channel of a model's score."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf
from tensorflow import keras

from schemas import features as f

_LOWEST: Final = -1e30
"""What padding scores where nothing bounds the scores: as JSON has it, too."""


class Scorer(keras.layers.Layer, ABC):
    """Scores the documents of query lists.

    A scorer defines `call` and `score_range`, and what else of the following it needs. It may have weights, trained or
    not, as any Keras layer.

    Call arguments:
      features: a dict of what `RankingLists.batch` makes: query columns [batch, ...], columns of the batch's distinct
        documents [documents, ...], list columns [batch, list_size], and
        `document_index`: int [batch, list_size], the row of the document columns at each place; negative marks padding.
      training: whether dropout and the like act.

    Returns:
      scores: float [batch, list_size]; that of a padded place means nothing.
    """

    @abstractmethod
    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list as the exported model does, from raw texts.

        Args:
          features: `query_text`, string [batch]; `doc_text`, string [documents]; `document_index`; and what the
            training's own transformation makes of the texts (see `models.texts.text_features`).
        """
        return self(features)

    @property
    @abstractmethod
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score that it can give; infinite where nothing bounds it."""

    @property
    def theta_ends(self) -> tuple[float, float]:
        """theta_0 and theta_K, the ends of the scale on which a loss's thresholds lie."""
        return self.score_range

    @property
    def padded_score(self) -> float:
        """What the exported model gives a place without a document; no document scores less."""
        return padded_below(self.score_range[0])

    @property
    def resources(self) -> Sequence[Any]:
        """What `score_texts` needs besides weights, to be saved along: lookup tables and their asset files."""
        return ()

    def score_and_watch(self, features: dict[str, Any]) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        """The scores of lists of the eval split, and figures of them, float scalars by name.

        An epoch's history shows the largest of each figure over all lists.
        """
        return self(features), {}

    def figures(self) -> dict[str, float]:
        """What an epoch's history shows of the scorer itself, by name."""
        return {}


def padded_below(least_score: float) -> float:
    """A score for places without a document, finite and below that of any."""
    return max(least_score - 1, _LOWEST)


class InnerProduct(Scorer, ABC):
    """Scores by the inner product of a query's vector and a document's.

        score = <query_vector, document_vector>

    The two functions may differ. A model of such scorers exports `encode_query` and `encode_document`: any
    maximum-inner-product index can search what they make. Other arguments are those of `Scorer`.
    """

    @abstractmethod
    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Vectors of queries, from query columns alone: float [batch, dim]."""

    @abstractmethod
    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Vectors of documents, from document columns alone: float [documents, dim]."""

    def word_vectors(self, features: dict[str, Any]) -> tf.Tensor | None:
        """What each word of one document adds to its vector: float [words, dim], whose sum is the vector.

        Their inner products with a query's vector are the words' shares in the score. Here there are none: only some
        vectors are sums over words.

        Args:
          features: document columns of the document's words, each a text of its own.
        """
        return None

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self._inner_products(features, training)

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from the vectors that the exported model gives, too."""
        return self._inner_products(features, training=False)

    def _inner_products(self, features: dict[str, Any], training: bool) -> tf.Tensor:
        documents = tf.gather(self.document_vector(features, training), tf.maximum(features[f.DOCUMENT_INDEX], 0))
        return tf.linalg.matvec(documents, self.query_vector(features, training))


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
