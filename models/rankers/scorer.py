"""Scorers: the channels of a model's score."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, final

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
"""Returns the joint representations of queries and documents, float [batch, pairs, width], in columns of the lists, int
[batch, pairs]. Those of padding mean nothing."""


class Words(NamedTuple):
    """The words of a language, or their stems if these are the model's terms; each is a row of an encoder's table."""

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
    """The parts that a training gives to a new scorer."""

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
    """The lowest possible score; may be infinite."""
    high: float
    """The highest possible score; may be infinite."""
    theta_ends: tuple[float, float] | None = None
    """theta_0 and theta_K, the ends of the scale on which a loss's thresholds lie; None: `low` and `high`."""
    padded: float | None = None
    """The exported model's score of padding; no document scores less. None: one less than `low`."""


class Scorer(keras.layers.Layer, ABC):
    """Scores the documents of query lists: a channel of the score.

    A scorer defines `call` and `bounds`, and may override `make`, `score_texts`, `score_and_join` and `fitted`.

    Call arguments:
      features: from `RankingLists.batch`: query columns [batch, ...], columns of the batch's distinct documents
        [documents, ...], list columns [batch, list_size], and `document_index`: int [batch, list_size], rows of the
        document columns, negative for padding.
      training: whether dropout and the like act.

    Returns:
      scores: float [batch, list_size]; arbitrary for padding.
    """

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "Scorer":
        """Makes the scorer of a configuration."""
        return cls(name=inputs.name)

    @abstractmethod
    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""

    def score_and_join(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, Joint | None]:
        """Returns the scores, as `call` does, and the joint representations behind them for an adversary.

        Source: Cohen et al. 2018, section 3. None, as here, if the scorer lacks joint representations.
        """
        return self(features, training=training), None

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list as the exported model does, from raw texts.

        Args:
          features: `query_text`, string [batch]; `doc_text`, string [documents]; `document_index`; and the columns that
            the training's transformation makes from the texts (see `models.texts.text_features`).
        """
        return self(features)

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """The ends of the scores."""

    @final
    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest possible score."""
        return self.bounds.low, self.bounds.high

    @final
    @property
    def theta_ends(self) -> tuple[float, float]:
        """theta_0 and theta_K."""
        return self.bounds.theta_ends or self.score_range

    @final
    @property
    def padded_score(self) -> float:
        """The exported model's score of padding."""
        padded = self.bounds.padded
        return padded_below(self.bounds.low) if padded is None else padded

    @property
    def fitted(self) -> Mapping[str, Fitted]:
        """The scorer's settings that were fitted on the eval split, by name."""
        return {}


class Watched(ABC):
    """A scorer with figures for an epoch's history."""

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

    A model of such scorers exports `encode_query` and `encode_document`, whose vectors any maximum-inner-product index
    can search.
    """

    @abstractmethod
    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns vectors of queries, from query columns only: float [batch, dim]."""

    @abstractmethod
    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns vectors of documents, from document columns only: float [documents, dim]."""

    def word_vectors(self, features: dict[str, Any]) -> tf.Tensor | None:
        """Returns each word's share of a document's vector, float [words, dim]; their sum is the vector.

        The inner products of the shares and a query's vector are the words' shares in the score. None, as here, if the
        vector is not a sum over words.

        Args:
          features: document columns in which each word of the document is a separate text.
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
    """A scorer that is learned before a training, and not trained; its scores follow from the raw texts alone.

    It defines `score_texts` and `bounds`. The scores of the lists on which a training is watched are computed once, by
    `score_texts`, as a list column of the scorer's name (see `models.rankers.fixed_scores`).
    """

    @abstractmethod
    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from raw texts, see `Scorer.score_texts`."""

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the scores that were computed before."""
        return features[f.fixed_score(self.name)]
