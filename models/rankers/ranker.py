"""The ranker: a weighted sum of named channels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.choices import SCORES
from models.layers.similarity import padded_below
from models.rankers.fixed_scores import FixedScores
from models.rankers.scorer import InnerProduct, Joint, Penalised, Scorer, Watched
from models.rankers.sparse_inner_product import SparseInnerProduct


class Ranker(keras.Model):
    """Scores the documents of query lists by a weighted sum of scorers.

        score = sum over the channels of weight * the channel's score

    The score of a single channel is not weighted.

    Args:
      channels: the scorers by name.
      channel_weights: the weights by name; a single channel has no weight.

    Call arguments:
      features, training: see `Scorer`.

    Returns:
      scores: float [batch, list_size]; the score of padding means nothing.

    Raises:
      ValueError: channels are missing, one has the name of the sum, or names and weights do not agree.
    """

    def __init__(
        self, channels: Mapping[str, Scorer], channel_weights: Mapping[str, float] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        expected = set(channels) if len(channels) > 1 else set()
        if not channels or SCORES in channels or set(channel_weights or {}) != expected:
            raise ValueError(
                f"channels need names other than {SCORES!r}, and several channels a weight each; "
                f"got channels {list(channels)} and weights {dict(channel_weights or {})}."
            )
        self.channels = dict(channels)
        self._channel_weights = dict(channel_weights or {})

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self._sum({name: channel(features, training=training) for name, channel in self.channels.items()})

    def score_and_join(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, Joint | None]:
        """Returns the scores, and the concatenated joint representations of all channels; see `Scorer.score_and_join`.

        Channels without joint representations are left out; None if all are.
        """
        channel_outputs = {name: channel.score_and_join(features, training) for name, channel in self.channels.items()}
        scores = self._sum({name: scores for name, (scores, _) in channel_outputs.items()})
        return scores, _joined(joint for _, joint in channel_outputs.values())

    def join(self, features: dict[str, Any], training: bool = False) -> Joint | None:
        """Returns the joint representations of lists that lack columns of fixed scores."""
        channels = (channel for channel in self.channels.values() if not isinstance(channel, FixedScores))
        return _joined(channel.score_and_join(features, training)[1] for channel in channels)

    def score_texts(self, features: dict[str, Any]) -> dict[str, tf.Tensor]:
        """Returns the sum, as `scores`, and each channel's scores by name; see `Scorer.score_texts`."""
        scores = {name: channel.score_texts(features) for name, channel in self.channels.items()}
        return {SCORES: self._sum(scores), **scores}

    def score_and_watch(self, features: dict[str, Any]) -> tuple[dict[str, tf.Tensor], dict[str, tf.Tensor]]:
        """Returns the sum, as `scores`, each channel's scores by name, and all channels' figures (see `Watched`)."""
        watched = {
            name: channel.score_and_watch(features) if isinstance(channel, Watched) else (channel(features), {})
            for name, channel in self.channels.items()
        }
        scores = {name: channel_scores for name, (channel_scores, _) in watched.items()}
        return {SCORES: self._sum(scores), **scores}, _merged(figures for _, figures in watched.values())

    def penalties(self) -> dict[str, tf.Tensor]:
        """Returns the penalties of the channels that have one, see `Penalised`."""
        channels = self.channels.items()
        return {f"{name}_penalty": channel.penalty() for name, channel in channels if isinstance(channel, Penalised)}

    def figures(self) -> dict[str, float]:
        """Returns the figures of all channels; see `Watched`."""
        return _merged(channel.figures() for channel in self.channels.values() if isinstance(channel, Watched))

    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest possible score, which may be infinite."""
        low = high = 0.0
        for name, channel in self.channels.items():
            if self._channel_weights.get(name) != 0:  # 0 times infinity would be NaN
                ends = sorted(self._weighted(name, end) for end in channel.score_range)
                low, high = low + ends[0], high + ends[1]
        return low, high

    @property
    def theta_ends(self) -> tuple[float, float]:
        """theta_0 and theta_K of a loss: the ends of a single channel, or the range of the sum."""
        first, *further = self.channels.values()
        return self.score_range if further else first.theta_ends

    @property
    def padded_scores(self) -> dict[str, float]:
        """The exported model's scores of padding, by the names of `score_texts`."""
        padded = {name: channel.padded_score for name, channel in self.channels.items()}
        first, *further = padded.values()
        return {SCORES: padded_below(self.score_range[0]) if further else first, **padded}

    @property
    def weights_of_channels(self) -> dict[str, float]:
        """The weight of each channel by name; 1 for a single channel."""
        return dict(self._channel_weights) or dict.fromkeys(self.channels, 1.0)

    @property
    def dense(self) -> dict[str, InnerProduct]:
        """The channels that are inner products of vectors."""
        return {name: channel for name, channel in self.channels.items() if isinstance(channel, InnerProduct)}

    @property
    def sparse(self) -> dict[str, SparseInnerProduct]:
        """The channels that are inner products of sparse vectors over terms."""
        return {name: channel for name, channel in self.channels.items() if isinstance(channel, SparseInnerProduct)}

    @property
    def is_inner_product(self) -> bool:
        """Whether an index can search the score: inner products of vectors, and of at most one channel's terms."""
        return bool(self.dense) and len(self.dense) + len(self.sparse) == len(self.channels) and len(self.sparse) <= 1

    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the concatenated, weighted vectors of queries in all dense channels: float [batch, dim]."""
        vectors = {name: channel.query_vector(features, training) for name, channel in self.dense.items()}
        return _side_by_side([self._weighted(name, vector) for name, vector in vectors.items()])

    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the concatenated vectors of documents in all dense channels: float [documents, dim]."""
        return _side_by_side([channel.document_vector(features, training) for channel in self.dense.values()])

    def word_shares(self, query: dict[str, Any], words: dict[str, Any]) -> dict[str, tf.Tensor | None]:
        """Returns the share of each word of a document in the weighted score of each dense channel: float [words].

        None for a channel whose vectors are not sums over words; see `InnerProduct.word_vectors`.

        Args:
          query: the columns of a single query.
          words: document columns in which each word of the document is a separate text.
        """
        shares: dict[str, tf.Tensor | None] = {}
        for name, channel in self.dense.items():
            vectors = channel.word_vectors(words)
            query_vector = None if vectors is None else self._weighted(name, channel.query_vector(query)[0])
            shares[name] = None if vectors is None else tf.linalg.matvec(vectors, query_vector)
        return shares

    def _sum(self, scores: Mapping[str, tf.Tensor]) -> tf.Tensor:
        first, *further = (self._weighted(name, channel_scores) for name, channel_scores in scores.items())
        return tf.add_n([first, *further]) if further else first

    def _weighted(self, name: str, value: Any) -> Any:
        """Weights a channel's value, unless it is the only channel."""
        return self._channel_weights[name] * value if self._channel_weights else value


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Unites the figures of all channels, whose names must be distinct."""
    figures: dict[str, Any] = {}
    for part in parts:
        if twice := figures.keys() & part.keys():
            raise ValueError(f"figures of channels must have distinct names; got {', '.join(sorted(twice))} twice.")
        figures |= part
    return figures


def _joined(joints: Iterable[Joint | None]) -> Joint | None:
    """Concatenates joint representations; None without any."""
    known = [joint for joint in joints if joint is not None]
    return (lambda columns: _side_by_side([joint(columns) for joint in known])) if known else None


def _side_by_side(vectors: Sequence[tf.Tensor]) -> tf.Tensor:
    return tf.concat(vectors, axis=-1) if len(vectors) > 1 else vectors[0]
