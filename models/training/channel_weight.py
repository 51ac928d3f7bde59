"""The weight of a channel, fitted on the eval split."""

from typing import Final

import numpy as np
import numpy.typing as npt

from models.evaluation.fit_number import fit_number
from models.lists.ranking_lists import RankingLists
from models.rankers.ranker import Ranker
from models.rankers.scorer import Scorer
from models.training.list_evaluator import ListEvaluator
from schemas.training_history import Fitted

WEIGHTS: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""Up to where the towers hardly count: the scores of an inner product may lie far from those of the channel."""


def fit_weight(lists: RankingLists, others: Ranker, channel: Scorer, top_grade: int) -> Fitted:
    """Fits the weight with which the score `others + weight * channel` has the largest ndcg_5 + 0.1 p_mr_1.

    The candidates are `WEIGHTS`; of equally good ones the smallest is taken. Never to be fitted on the test split.

    Args:
      lists: lists of the eval split.
      others: the sum of the other channels.
      channel: the channel.
      top_grade: the MR grade.
    """
    of_others, of_channel = (
        ListEvaluator(ranker, lists, top_grade).scores()[0] for ranker in (others, Ranker({"one": channel}))
    )

    def scores(weight: float) -> list[npt.NDArray[np.float32]]:
        return [one + np.float32(weight) * other for one, other in zip(of_others, of_channel, strict=True)]

    return fit_number(lists, WEIGHTS, scores, top_grade)
