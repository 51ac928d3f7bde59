"""Fits the weight of a channel on the eval split, or on domains that were left out of training."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final, NamedTuple

import numpy as np

from models.evaluation.fit_number import EvalMetrics, best_number
from models.lists.ranking_lists import RankingLists
from models.rankers.ranker import Ranker
from models.rankers.scorer import Scorer
from models.training.list_evaluator import ListEvaluator
from schemas.training_history import Fitted

WEIGHTS: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""Goes up to 16, where the towers hardly count, because inner products may be much larger than the channel's scores."""


class Candidates(NamedTuple):
    """The possible weights of a channel."""

    weights: tuple[float, ...]
    """The weights, ascending."""
    usual: float | None = None
    """See `models.evaluation.fit_number.best_number`."""


CHANNEL: Final = Candidates(WEIGHTS)
TOWERS: Final = Candidates((0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0), usual=1.0)
"""No weight above that of the training, because towers rank the documents of the eval split, which they know, better
than new ones."""
NONE: Final = Candidates((0.0,))


class Sum(NamedTuple):
    """A score of two parts, `scale * base + weight * channel`, and lists of the eval split to fit its weight on."""

    lists: RankingLists
    base: Ranker
    channel: Scorer
    scale: float = 1.0


def fit_weight(sums: Sequence[Sum], top_grade: int, candidates: Candidates = CHANNEL) -> Fitted:
    """Finds the weight with the largest mean of ndcg_5 + 0.1 p_mr_1 over sums.

    Never on the test split. Among equally good weights the first is taken. If this is 0 and the channel alone ranks as
    well, the lists cannot decide between the two parts, and the middle one of the equally good weights is taken.

    Args:
      sums: a single sum with the eval split; or for each domain a sum that was trained without it, with its lists.
      top_grade: the MR grade.
      candidates: the possible weights.
    """
    scores = [
        [ListEvaluator(ranker, lists, top_grade).scores() for ranker in (base, Ranker({"channel": channel}))]
        for lists, base, channel, _ in sums
    ]

    def metrics(weight: float, has_base: bool = True) -> EvalMetrics:
        parts = []
        for sum_lists, (base, channel) in zip(sums, scores, strict=True):
            scale = np.float32(sum_lists.scale * has_base)
            total = [scale * first + np.float32(weight) * second for first, second in zip(base, channel, strict=True)]
            parts.append(EvalMetrics.measure(sum_lists.lists, total, top_grade))
        return EvalMetrics.mean(parts)

    by_weight = {weight: metrics(weight) for weight in candidates.weights}
    fitted = best_number(by_weight, candidates.usual)
    if fitted.value == 0 and metrics(1.0, has_base=False) == by_weight[0]:
        equal = [*takewhile(lambda weight: by_weight[weight] == by_weight[0], by_weight)]
        fitted = fitted.model_copy(update={"value": equal[len(equal) // 2]})
    return fitted
