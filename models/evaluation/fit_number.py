"""A number that is fitted on the eval split."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import mean_metrics
from models.lists.ranking_lists import RankingLists
from models.retrieval.ranking import ranked_grades
from schemas.training_history import Fitted, Tried


def fit_number(
    lists: RankingLists,
    values: Sequence[float],
    scores: Callable[[float], Sequence[npt.NDArray[np.float32]]],
    top_grade: int,
) -> Fitted:
    """Finds the value with the largest ndcg_5 + 0.1 p_mr_1; of equally good ones the first. Never on the test split.

    Args:
      lists: lists of the eval split.
      values: the candidates, the simplest first.
      scores: the scores of the lists' documents with a value: [lists], each float [list_size].
      top_grade: the MR grade.
    """
    curve = []
    for value in values:
        found = mean_metrics(ranked_grades(lists.query_ids, lists.doc_ids, scores(value), lists.grades), top_grade)
        curve.append(Tried(value=value, ndcg_5=found["ndcg_5"], p_mr_1=found["p_mr_1"]))
    best = max(curve, key=lambda one: one.ndcg_5 + 0.1 * one.p_mr_1)
    return Fitted(value=best.value, curve=curve)
