"""The list columns of channels whose scores training does not change, and the scorer that reads them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from models.graphs import graph_function
from models.lists.ranking_lists import RankingLists
from models.rankers.scorer import Bounds, FixedScorer, Scorer
from schemas import features as f

_BATCH = 64


class FixedScores(Scorer):
    """Stands for a channel in a training: its scores were computed once, so its tables need not be tracked.

    Args:
      channel: the scorer.
    """

    def __init__(self, channel: FixedScorer, **kwargs: Any) -> None:
        super().__init__(name=channel.name, **kwargs)
        self._bounds = channel.bounds

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the scores that were computed once."""
        return features[f.fixed_score(self.name)]

    @property
    def bounds(self) -> Bounds:
        """The channel's."""
        return self._bounds


def with_fixed_scores(lists: RankingLists, texts: RankingLists, channels: Iterable[FixedScorer]) -> RankingLists:
    """Adds a column of each channel's scores to lists.

    Args:
      lists: lists of tokens, say.
      texts: the same lists, as texts.
      channels: the scorers.

    Raises:
      ValueError: they are not the same lists.
    """
    if (lists.query_ids, lists.doc_ids) != (texts.query_ids, texts.doc_ids):
        raise ValueError("lists and texts must be the same lists")

    columns = {f.fixed_score(channel.name): _scores(texts, channel) for channel in channels}
    return replace(
        lists,
        list_columns={
            **lists.list_columns,
            **{name: lists.documents.with_flat_values(scores) for name, scores in columns.items()},
        },
    )


def _scores(texts: RankingLists, channel: FixedScorer) -> tf.Tensor:
    """The scores of all pairs of lists, list by list: float [pairs]."""

    @graph_function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def score(rows: tf.Tensor) -> tf.Tensor:
        features, _ = texts.batch(rows)
        return tf.boolean_mask(channel.score_texts(features), features[f.DOCUMENT_INDEX] >= 0)

    rows = np.arange(len(texts), dtype=np.int32)
    # A GPU sums in any order, but a killed training recognises its lists by their exact values.
    with tf.device("CPU:0"):
        parts = [score(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
    return tf.concat([tf.zeros(0), *parts], axis=0)
