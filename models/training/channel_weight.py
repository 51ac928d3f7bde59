"""The weight of a channel, fitted on the eval split, or on domains that were left out of training."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from models.evaluation.fit_number import EvalMetrics, best_number
from models.lists.ranking_lists import RankingLists
from models.rankers.ranker import Ranker
from models.rankers.scorer import Scorer
from models.training.list_evaluator import ListEvaluator
from schemas.training_history import Fitted

WEIGHTS: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""Up to where the towers hardly count: the scores of an inner product may lie far from those of the channel."""


class Sum(NamedTuple):
    """A score of two parts, `others + weight * channel`, and lists of the eval split to fit its weight on."""

    lists: RankingLists
    others: Ranker
    channel: Scorer


def fit_weight(sums: Sequence[Sum], top_grade: int) -> Fitted:
    """Fits the weight with the largest ndcg_5 + 0.1 p_mr_1, in the mean over sums, each with lists of its own.

    The candidates are `WEIGHTS`; of equally good ones the smallest is taken. Never to be fitted on the test split.

    Args:
      sums: one, for a weight that is fitted on the eval split; or one a domain, trained without it, with its lists.
      top_grade: the MR grade.
    """
    scores = [
        [ListEvaluator(ranker, lists, top_grade).scores() for ranker in (others, Ranker({"one": channel}))]
        for lists, others, channel in sums
    ]

    def metrics(weight: float) -> EvalMetrics:
        parts = []
        for one, (of_others, of_channel) in zip(sums, scores, strict=True):
            total = [first + np.float32(weight) * second for first, second in zip(of_others, of_channel, strict=True)]
            parts.append(EvalMetrics.of(one.lists, total, top_grade))
        return EvalMetrics.mean(parts)

    return best_number({weight: metrics(weight) for weight in WEIGHTS})
