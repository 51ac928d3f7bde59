"""The list columns of channels whose scores training does not change."""

from dataclasses import replace

import numpy as np
import tensorflow as tf

from models.graphs import graph_function
from models.lists.ranking_lists import RankingLists
from models.rankers.scorer import FixedScorer
from schemas import features as f

_BATCH = 64


def with_fixed_scores(lists: RankingLists, texts: RankingLists, channel: FixedScorer) -> RankingLists:
    """Adds the column of a channel's scores to lists.

    Args:
      lists: lists of tokens, say.
      texts: the same lists, as texts.
      channel: the scorer.

    Raises:
      ValueError: they are not the same lists.
    """
    if (lists.query_ids, lists.doc_ids) != (texts.query_ids, texts.doc_ids):
        raise ValueError("lists and texts must be the same lists")

    @graph_function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def score(rows: tf.Tensor) -> tf.Tensor:
        features, _ = texts.batch(rows)
        return tf.boolean_mask(channel.score_texts(features), features[f.DOCUMENT_INDEX] >= 0)

    rows = np.arange(len(lists), dtype=np.int32)
    # A GPU sums in any order, but a killed training recognises its lists by their exact values.
    with tf.device("CPU:0"):
        parts = [score(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
    scores = lists.documents.with_flat_values(tf.concat([tf.zeros(0), *parts], axis=0))
    return replace(lists, list_columns={**lists.list_columns, f.fixed_score(channel.name): scores})
