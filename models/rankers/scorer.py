"""Scorers: the channels of a model's score, and the kinds that an index or a table of scores can stand in for."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.job import TrainingJob
from models.layers.similarity import padded_below
from models.lists.ranking_lists import RankingLists
from schemas import features as f
from schemas.training_history import Fitted

Joint: TypeAlias = Callable[[tf.Tensor], tf.Tensor]
"""Joint representations of queries and documents: from columns of the lists, int [batch, pairs], to float
[batch, pairs, width]. Those of padding mean nothing."""


Role: TypeAlias = Literal["query", "document"]


class Words(NamedTuple):
    """The words of one language, or their stems where these are the model's terms, each a row of an encoder's table."""

    number: int
    """Number of words."""
    vectors: npt.NDArray[np.float32] | None = None
    """Vectors of the first words, float [words, dim], with which training starts; the others start at random."""
    train: bool = True
    """Whether training moves the table."""
    stems: int = 0
    """Number of the words' stems, each a row of a second table if the model has one."""
    idf: npt.NDArray[np.float32] | None = None
    """Inverse document frequency of each word in the train split, float [words], if the model weighs by it."""
    stem_idf: npt.NDArray[np.float32] | None = None
    """Inverse document frequency of each stem of the second table, float [stems], likewise."""


class ScorerInputs(NamedTuple):
    """Everything that a scorer can be made of when a training starts."""

    name: str
    """Name of the scorer's channel."""
    settings: Any
    """The scorer's own settings, of its kind."""
    job: TrainingJob
    """The training: seed, languages, rules of words, MR grade, and the folder of the lexicon."""
    query_words: Words
    document_words: Words
    train_texts: Callable[[], RankingLists]
    """Reads the train split as texts, for scorers that are learned before the training."""
    eval_texts: Callable[[], RankingLists]
    """Reads the eval split as texts, for scorers that fit a number there."""


class Bounds(NamedTuple):
    """The ends of a scorer's scores."""

    low: float
    """The lowest possible score; infinite where nothing bounds it."""
    high: float
    """The highest possible score, likewise."""
    theta_ends: tuple[float, float] | None = None
    """theta_0 and theta_K, the ends of the scale on which a loss's thresholds lie; None: `low` and `high`."""
    padded: float | None = None
    """The exported model's score of padding, which no document is below; None: one less than `low`."""


class Scorer(keras.layers.Layer, ABC):
    """Scores the documents of query lists: a channel of the score.

    A scorer defines `call` and `bounds`, and overrides four other members where it needs to: `make`, `score_texts`,
    `score_and_join` and `fitted`. It may have weights, trained or not, as any Keras layer.

    Call arguments:
      features: what `RankingLists.batch` returns: query columns [batch, ...], columns of the batch's distinct documents
        [documents, ...], list columns [batch, list_size], and
        `document_index`: int [batch, list_size], rows of the document columns; a negative row marks padding.
      training: whether dropout and the like act.

    Returns:
      scores: float [batch, list_size]; the score of padding means nothing.
    """

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "Scorer":
        """Makes the scorer that a configuration names."""
        return cls(name=inputs.name)

    @abstractmethod
    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""

    def score_and_join(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, Joint | None]:
        """Returns the scores, as `call` does, and the joint representations that they are made of.

        An adversary reads these (Cohen et al. 2018, section 3). None where the scorer has none, as here.
        """
        return self(features, training=training), None

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list as the exported model does, from raw texts.

        Args:
          features: `query_text`, string [batch]; `doc_text`, string [documents]; `document_index`; and the columns that
            the training's own transformation makes of the texts (see `models.texts.text_features`).
        """
        return self(features)

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """The ends of the scores."""

    @final
    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest possible score; infinite where nothing bounds it."""
        return self.bounds.low, self.bounds.high

    @final
    @property
    def theta_ends(self) -> tuple[float, float]:
        """theta_0 and theta_K, the ends of the scale on which a loss's thresholds lie."""
        return self.bounds.theta_ends or self.score_range

    @final
    @property
    def padded_score(self) -> float:
        """The exported model's score of padding; no document scores less."""
        padded = self.bounds.padded
        return padded_below(self.bounds.low) if padded is None else padded

    @property
    def fitted(self) -> Mapping[str, Fitted]:
        """The scorer's own settings that were fitted on the eval split when it was made, by name."""
        return {}


class Watched(ABC):
    """A scorer with figures that an epoch's history shows."""

    @abstractmethod
    def score_and_watch(self, features: dict[str, Any]) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        """Returns the scores of lists of the eval split, and figures of these scores, float scalars by name.

        An epoch's history shows the largest of each figure over all lists.
        """

    @abstractmethod
    def figures(self) -> dict[str, float]:
        """Returns figures of the scorer itself, by their names in the history."""


class Penalised(ABC):
    """A scorer with a term of the training loss that depends only on its weights."""

    @abstractmethod
    def penalty(self) -> tf.Tensor:
        """Returns the term, a float scalar."""


class InnerProduct(Scorer, ABC):
    """Scores by the inner product of a query's vector and a document's.

        score = <query_vector, document_vector>

    The two functions may differ. A model of such scorers exports `encode_query` and `encode_document`, whose vectors
    any maximum-inner-product index can search. Other arguments are those of `Scorer`.
    """

    @abstractmethod
    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns vectors of queries, from query columns alone: float [batch, dim]."""

    @abstractmethod
    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns vectors of documents, from document columns alone: float [documents, dim]."""

    def word_vectors(self, features: dict[str, Any]) -> tf.Tensor | None:
        """Returns each word's share of one document's vector, float [words, dim]; their sum is the vector.

        The inner products of the shares and a query's vector are the words' shares in the score. None where the vector
        is no sum over words, as here.

        Args:
          features: document columns of the document's words, each a text of its own.
        """
        return None

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self._inner_products(features, training)

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from the same vectors that the exported model gives."""
        return self._inner_products(features, training=False)

    def score_and_join(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, Joint | None]:
        """Returns the scores, and the joint representations [q; d; q * d] of the two vectors."""
        query, documents = self._vectors(features, training)
        return tf.linalg.matvec(documents, query), join_vectors(query, documents)

    def _inner_products(self, features: dict[str, Any], training: bool) -> tf.Tensor:
        query, documents = self._vectors(features, training)
        return tf.linalg.matvec(documents, query)

    def _vectors(self, features: dict[str, Any], training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the queries' vectors, float [batch, dim], and the documents', float [batch, list_size, dim]."""
        documents = tf.gather(self.document_vector(features, training), tf.maximum(features[f.DOCUMENT_INDEX], 0))
        return self.query_vector(features, training), documents


def join_vectors(query: tf.Tensor, documents: tf.Tensor) -> Joint:
    """Returns the joint representations [q; d; q * d] of vectors; the last part's sum is the inner product.

    Args:
      query: float [batch, dim].
      documents: float [batch, list_size, dim].
    """

    def join(columns: tf.Tensor) -> tf.Tensor:
        chosen = tf.gather(documents, columns, batch_dims=1)
        queries = tf.broadcast_to(query[:, tf.newaxis], tf.shape(chosen))
        return tf.concat([queries, chosen, queries * chosen], axis=-1)

    return join


class FixedScorer(Scorer, ABC):
    """A scorer that is not trained, and whose scores follow from the raw texts alone: it is learned before a training.

    The scores of the lists on which a training is watched are computed once, by `score_texts`, as a list column of the
    scorer's name (see `models.rankers.fixed_scores`). A subclass defines `score_texts` and `bounds`.
    """

    @abstractmethod
    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from raw texts, see `Scorer.score_texts`."""

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the scores that were computed once."""
        return features[f.fixed_score(self.name)]


class Parts(NamedTuple):
    """The parts of a score, an entry each."""

    query_term: tf.Tensor
    """string [entries]."""
    document_term: tf.Tensor
    """string [entries]: a term of the document that answers the query's term."""
    part: tf.Tensor
    """float [entries]; their sum is the score."""


class Translations(NamedTuple):
    """Translations of terms, an entry each."""

    query_term: tf.Tensor
    """string [entries]."""
    document_term: tf.Tensor
    """string [entries]."""
    weight: tf.Tensor
    """float [entries]."""


class SparseInnerProduct(FixedScorer, ABC):
    """Scores by the inner product of a query's terms and a document's, so that an inverted index can search them.

        score = sum over the terms of both of query_weight * document_weight

    A scorer defines `query_terms`, `document_terms` and `knows`; where terms are not words, also `term_of`, and where a
    document's term may answer another term of a query, `parts` and `translations`. Other arguments are those of
    `Scorer`.
    """

    @abstractmethod
    def query_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns distinct terms of queries (string [batch]) and their weights: string and float [batch, (terms)]."""

    @abstractmethod
    def document_terms(self, texts: tf.Tensor, own: bool = False) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns distinct terms of documents and their weights.

        Args:
          texts: string [documents].
          own: whether to leave out translations, and take only terms of the document itself, to compare documents.

        Returns:
          string and float [documents, (terms)].
        """

    @abstractmethod
    def knows(self, terms: tf.Tensor) -> tf.Tensor:
        """Returns whether terms have a weight of their own: string [terms] -> bool [terms]."""

    @final
    def known_share(self, queries: tf.Tensor) -> tf.Tensor:
        """Returns the share of each query's distinct terms that are known; 0 without terms.

        Args:
          queries: string [batch].

        Returns:
          float [batch].
        """
        terms, _ = self.query_terms(queries)
        known = terms.with_flat_values(tf.cast(self.knows(terms.flat_values), tf.float32))
        return tf.math.divide_no_nan(tf.reduce_sum(known, axis=1), tf.cast(terms.row_lengths(), tf.float32))

    def term_of(self, words: tf.Tensor, role: Role) -> tf.Tensor:
        """Returns the term of each word of a query or a document, string [words], "" for none; here the word itself."""
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
