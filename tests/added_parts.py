"""Parts that a user could add: one of each, in a module of its own, and its settings with their entry in a table."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.graphs import row_ids
from models.layers.settings import TextEncoderSettings, TrainingDefaults
from models.layers.text_encoder import TextEncoder
from models.lists.ranking_lists import RankingLists
from models.losses.ranking_loss import PointwiseLoss, RankingLoss
from models.losses.settings import Interval, LossSettings, ThresholdLossSettings
from models.objectives.objective import ListLosses, OwnOptimizer, RankingObjective, make_loss
from models.objectives.settings import ObjectiveSettings
from models.rankers.ranker import Ranker
from models.rankers.scorer import Bounds, FixedScorer, Scorer, ScorerInputs, Words
from models.rankers.settings import ChannelSettings, ScorerSettings
from schemas import features as f


class WideSettings(ScorerSettings):
    """Settings of `WideScorer`."""

    implementation: ClassVar[str] = f"{__name__}.WideScorer"

    kind: Literal["wide"] = "wide"
    dim: int = 4
    """Length of a word's embedding."""


class WideScorer(Scorer):
    """A scorer that is no inner product and has no bound: a weighted distance of two means of embeddings.

    score = bias - sum_i weight_i (q_i - d_i)^2
    """

    def __init__(self, query_words: Words, document_words: Words, seed: int, dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._sizes, self._seed, self._dim = (query_words.number, document_words.number), seed, dim

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "WideScorer":
        return cls(inputs.query_words, inputs.document_words, inputs.job.training.seed, inputs.settings.dim)

    def build(self, input_shape: Any) -> None:
        self.tables = [
            self.add_weight(
                name=name, shape=(size, self._dim), initializer=keras.initializers.RandomNormal(0, 1, self._seed)
            )
            for name, size in zip(("query", "document"), self._sizes, strict=True)
        ]
        self.weight = self.add_weight(name="weight", shape=(self._dim,), initializer="ones")
        super().build(input_shape)

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        means = [
            tf.math.unsorted_segment_mean(tf.gather(table, ids.values), row_ids(ids), ids.nrows())
            for table, ids in zip(self.tables, (features[f.QUERY_TOKENS], features[f.DOC_TOKENS]), strict=True)
        ]
        documents = tf.gather(means[1], tf.maximum(features[f.DOCUMENT_INDEX], 0))
        return 1.0 - tf.linalg.matvec(tf.square(means[0][:, tf.newaxis] - documents), self.weight)

    @property
    def bounds(self) -> Bounds:
        return Bounds(-math.inf, math.inf, theta_ends=(-1.0, 1.0))


class HuberSettings(ThresholdLossSettings):
    """Settings of `HuberLoss`."""

    implementation: ClassVar[str] = f"{__name__}.HuberLoss"

    kind: Literal["huber"] = "huber"
    delta: float = 0.25
    """Distance from the middle of a band beyond which the loss is linear."""

    def arguments(self, top_grade: int, ends: Interval) -> dict[str, Any]:
        return {**super().arguments(top_grade, ends), "delta": self.delta}


class HuberLoss(PointwiseLoss):
    """A loss with a setting of its own: Huber's, of the distance to the middle of the grade's band."""

    def __init__(self, theta: Sequence[float], delta: float, **kwargs: Any) -> None:
        super().__init__(theta, **kwargs)
        self._delta = delta

    def document_loss(self, grade: tf.Tensor, score: tf.Tensor) -> tf.Tensor:
        lower, upper = self.band(grade, score)
        distance = tf.abs(score - (lower + upper) / 2)
        return tf.where(distance <= self._delta, tf.square(distance) / 2, self._delta * (distance - self._delta / 2))


class GuessingSettings(ObjectiveSettings):
    """Settings of `GuessingObjective`."""

    implementation: ClassVar[str] = f"{__name__}.GuessingObjective"

    kind: Literal["guessing"] = "guessing"
    rate: float = 0.05
    """Learning rate of the second network's own optimizer."""


class GuessingObjective(RankingObjective):
    """A ranking loss, and a second network with its own optimizer that guesses MR documents from their scores."""

    def __init__(self, ranker: Ranker, loss: RankingLoss, top_grade: int, rate: float) -> None:
        super().__init__(ranker, loss)
        self._top_grade = top_grade
        self.guess = [tf.Variable(0.0, name="slope"), tf.Variable(0.0, name="offset")]
        self.adam = keras.optimizers.Adam(rate)

    @classmethod
    def make(cls, ranker: Ranker, settings: LossSettings, top_grade: int, seed: int, **own: Any) -> "GuessingObjective":
        return cls(ranker, make_loss(settings, top_grade, ranker.theta_ends), top_grade, **own)

    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        scores = self.ranker(features, training=True)
        is_document = tf.cast(labels >= 0, scores.dtype)
        logits = self.guess[0] * tf.stop_gradient(scores) + self.guess[1]
        is_top = tf.cast(labels == self._top_grade, scores.dtype)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(is_top, logits) * is_document
        guess = tf.reduce_sum(losses, axis=1) / tf.reduce_sum(is_document, axis=1)
        return ListLosses(self.loss(labels, scores) + guess, {"guess": guess})

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        return [*super().trainable_variables, *self.guess]

    @property
    def own_optimizers(self) -> list[OwnOptimizer]:
        return [OwnOptimizer(self.adam, self.guess)]


class LengthSettings(ChannelSettings):
    """Settings of `LengthChannel`."""

    implementation: ClassVar[str] = f"{__name__}.LengthChannel"

    kind: Literal["length"] = "length"


class LengthChannel(FixedScorer):
    """A channel learned before training: how near a document's length is to what relevant ones have."""

    def __init__(self, ratio: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._ratio = tf.Variable(ratio, trainable=False, dtype=tf.float32, name="ratio")

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "LengthChannel":
        return cls(_length_ratio(inputs.train_texts()), name=inputs.name)

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        query, document = (tf.strings.length(features[name]) for name in (f.QUERY_TEXT, f.DOC_TEXT))
        lengths = tf.gather(document, tf.maximum(features[f.DOCUMENT_INDEX], 0))
        wanted = self._ratio * tf.cast(query, tf.float32)[:, tf.newaxis]
        return -tf.abs(tf.math.log((tf.cast(lengths, tf.float32) + 1) / (wanted + 1)))

    @property
    def bounds(self) -> Bounds:
        return Bounds(-math.inf, 0.0)


def _length_ratio(lists: RankingLists) -> float:
    """The mean length of relevant documents, in lengths of their queries."""
    queries = np.array([len(text) for text in lists.query_columns[f.QUERY_TEXT].numpy()])
    documents = np.array([len(text) for text in lists.document_columns[f.DOC_TEXT].numpy()])
    pairs = zip(queries, lists.documents.to_list(), lists.grades, strict=True)
    return float(
        np.mean([documents[row] / length for length, rows, grades in pairs for row in np.array(rows)[grades > 0]])
    )


class LinearSettings(TextEncoderSettings):
    """Settings of `LinearMean`."""

    implementation: ClassVar[str] = f"{__name__}.LinearMean"
    largest_component: ClassVar[float] = math.inf

    trained: ClassVar[TrainingDefaults] = TrainingDefaults(0.5, 1.0, 1.0, has_short_ops=True)

    kind: Literal["linear"] = "linear"


class LinearMean(TextEncoder):
    """An encoder with unbounded components: the mean of a text's embeddings."""

    def call(self, tokens: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        return tf.math.unsorted_segment_mean(tf.gather(self.table, tokens.values), row_ids(tokens), tokens.nrows())


def add_entries(patch: pytest.MonkeyPatch) -> None:
    """Adds the entries to the tables: all that the parts need besides their classes."""
    patch.setitem(ScorerSettings.kinds, "wide", WideSettings)
    patch.setitem(LossSettings.kinds, "huber", HuberSettings)
    patch.setitem(ObjectiveSettings.kinds, "guessing", GuessingSettings)
    patch.setitem(ChannelSettings.kinds, "length", LengthSettings)
    patch.setitem(TextEncoderSettings.kinds, "linear", LinearSettings)
