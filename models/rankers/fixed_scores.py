"""List columns with the scores of untrained channels, and the scorer that reads them."""

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
    """Replaces a channel during training by scores that were computed before, so that its tables are not tracked.

    Args:
      channel: the scorer.
    """

    def __init__(self, channel: FixedScorer, **kwargs: Any) -> None:
        super().__init__(name=channel.name, **kwargs)
        self._bounds = channel.bounds

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the scores that were computed before."""
        return features[f.fixed_score(self.name)]

    @property
    def bounds(self) -> Bounds:
        """The channel's bounds."""
        return self._bounds


def with_fixed_scores(lists: RankingLists, texts: RankingLists, channels: Iterable[FixedScorer]) -> RankingLists:
    """Adds a column of each channel's scores to lists.

    Args:
      lists: lists, such as of tokens.
      texts: the same lists, as texts.
      channels: the scorers.

    Raises:
      ValueError: lists and texts are not the same lists.
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
    # A GPU sums in any order, but an unfinished training recognises its lists by exact values.
    with tf.device("CPU:0"):
        parts = [score(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
    return tf.concat([tf.zeros(0), *parts], axis=0)
