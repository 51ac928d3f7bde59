"""Fits numbers on the eval split, by two metrics."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.evaluation.list_metrics import list_metrics, means
from models.lists.ranking_lists import RankingLists
from schemas.training_history import Fitted, Tried

MIN_GROWTH: Final = 0.002
"""Smallest growth for which a number leaves its usual value; less is due to chance on the lists of a small collection,
above all where each has a single relevant document."""


class EvalMetrics(NamedTuple):
    """The two metrics that decide between rankings of the eval split."""

    ndcg_5: float
    p_mr_1: float

    @classmethod
    def measure(cls, lists: RankingLists, scores: Sequence[npt.NDArray[np.float32]], top_grade: int) -> "EvalMetrics":
        """Measures the ranking of lists by the scores of their documents: [lists], each float [list_size]."""
        return cls(**means(list_metrics(lists, scores, top_grade, cls._fields)))

    @classmethod
    def mean(cls, parts: Sequence["EvalMetrics"]) -> "EvalMetrics":
        """Returns the unweighted means of the metrics of several rankings."""
        return cls(*(float(np.mean(values)) for values in zip(*parts, strict=True)))

    @property
    def value(self) -> float:
        """ndcg_5 + 0.1 p_mr_1, which is maximised."""
        return self.ndcg_5 + 0.1 * self.p_mr_1


def fit_number(
    lists: RankingLists,
    values: Sequence[float],
    scores: Callable[[float], Sequence[npt.NDArray[np.float32]]],
    top_grade: int,
) -> Fitted:
    """Finds the value with the best `EvalMetrics`, the first of equally good values. Never on the test split.

    Args:
      lists: lists of the eval split.
      values: the candidates, the simplest first.
      scores: the scores of the lists' documents with a value: [lists], each float [list_size].
      top_grade: the MR grade.
    """
    return best_number({value: EvalMetrics.measure(lists, scores(value), top_grade) for value in values})


def best_number(by_value: Mapping[float, EvalMetrics], usual: float | None = None) -> Fitted:
    """Returns the value with the best metrics, the first of equally good values.

    Args:
      by_value: the metrics of each value.
      usual: the value that is kept unless another adds `MIN_GROWTH`, if there is such a value.
    """
    best = max(by_value, key=lambda value: by_value[value].value + MIN_GROWTH * (value == usual))
    return Fitted(value=best, curve=[Tried(value=value, **metrics._asdict()) for value, metrics in by_value.items()])
