"""The exact expectation of every metric when a list is ordered at random: the floor of all floors."""

from collections.abc import Sequence
from functools import cache
from math import comb, log2

import numpy as np
import numpy.typing as npt

_CUTOFF = 5


def expected_metrics(grades: npt.NDArray[np.int64], top_grade: int) -> dict[str, float]:
    """Expected metrics of one list over all its orders (see `models.metrics` for their definitions).

    With n documents of which r count as relevant, any place holds a relevant one with probability r/n, and

        E[AP] = 1/n * sum_k (1 + (k-1) (r-1)/(n-1)) / k,   P(first relevant at k) = C(n-k, r-1) / C(n, r).

    Args:
      grades: int [list_size].
      top_grade: the MR grade.
    """
    size = len(grades)
    relevant = int((grades >= 1).sum())
    most_relevant = int((grades == top_grade).sum())
    places = min(_CUTOFF, size)
    discounts = [1 / log2(1 + rank) for rank in range(1, places + 1)]
    ideal = sum(float(grade) * d for grade, d in zip(np.sort(grades)[::-1], discounts, strict=False))
    return {
        "p_mr_1": most_relevant / size,
        "recall_mr_5": places / size if most_relevant else 0.0,
        "p_r_5": relevant / size * places / _CUTOFF,
        "ndcg_5": float(grades.mean()) * sum(discounts) / ideal if ideal else 0.0,
        "map": _average_precision(size, relevant),
        "mrr_mr": _reciprocal_rank(size, most_relevant),
        "mrr_r": _reciprocal_rank(size, relevant),
    }


def mean_expected_metrics(lists: Sequence[npt.NDArray[np.int64]], top_grade: int) -> dict[str, float]:
    """The mean over lists of `expected_metrics`."""
    rows = [expected_metrics(grades, top_grade) for grades in lists]
    return {key: sum(row[key] for row in rows) / len(rows) for key in rows[0]}


@cache
def _average_precision(size: int, relevant: int) -> float:
    if not relevant:
        return 0.0
    others = (relevant - 1) / (size - 1) if size > 1 else 0.0
    return sum((1 + (k - 1) * others) / k for k in range(1, size + 1)) / size


@cache
def _reciprocal_rank(size: int, relevant: int) -> float:
    if not relevant:
        return 0.0
    total = comb(size, relevant)
    return sum(comb(size - k, relevant - 1) / total / k for k in range(1, size - relevant + 2))
