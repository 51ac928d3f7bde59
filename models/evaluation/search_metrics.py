"""The metrics of a search, from the ranks of a query's judged documents in a ranking of the whole collection.

A ranking is cut at `DEPTH` documents; judged documents beyond count as never found: they add nothing to any metric, and
their reciprocal rank is 0. Unjudged documents are irrelevant. Rankings are in the order of `models.lists.ranking`: ties
by document id descending. Grades and relevance are as in `metrics.py`; a query without a relevant document scores 0.

Importing this file does not import TensorFlow.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import SEARCH_METRICS, Metric

DEPTH: Final = 1000
"""The number of documents of a ranking that metrics read."""
NEVER: Final = np.inf
"""The rank of a document that was not found."""


def search_metrics(
    grades: Sequence[npt.NDArray[np.int64]], ranks: Sequence[npt.NDArray[np.float64]], top_grade: int
) -> dict[str, npt.NDArray[np.float64]]:
    """The value of every metric for every query.

    Args:
      grades: the grades of each query's judged documents, int [judged].
      ranks: the ranks of the same documents, from 1, or `NEVER`: float [judged].
      top_grade: the MR grade.

    Returns:
      key to float [queries].

    Example:
      >>> values = search_metrics([np.array([2, 1])], [np.array([2.0, NEVER])], top_grade=2)  # SR was not found
      >>> values["mrr_mr"].tolist(), values["recall_10"].tolist(), values["recall_mr_10"].tolist()
      ([0.5], [0.5], [1.0])
    """
    rankings = [_graded_ranking(*query) for query in zip(grades, ranks, strict=True)]
    return {
        key: np.array([cut_at_depth(metric).expected(ranking, top_grade) for ranking in rankings])
        for key, metric in SEARCH_METRICS.items()
    }


def cut_at_depth(metric: Metric) -> Metric:
    """Returns the metric with the cutoff `DEPTH` where it has none."""
    return metric if metric.cutoff else replace(metric, cutoff=DEPTH)


def _graded_ranking(grades: npt.NDArray[np.int64], ranks: npt.NDArray[np.float64]) -> list[list[int]]:
    """The grades of a ranking's documents, with runs of irrelevant documents in between; unfound ones follow `DEPTH`.

    Example:
      >>> _graded_ranking(np.array([2, 1]), np.array([3.0, 1.0]))
      [[1], [0], [2]]
    """
    runs: list[list[int]] = []
    last = 0
    for row in np.argsort(ranks, kind="stable"):
        rank = int(min(ranks[row], max(last, DEPTH) + 1))
        if rank > last + 1:
            runs.append([0] * (rank - last - 1))
        runs.append([int(grades[row])])
        last = rank
    return runs


def ranks_of(doc_ids: Sequence[bytes], ranked: Sequence[bytes]) -> npt.NDArray[np.float64]:
    """The ranks of documents in a ranking, from 1; `NEVER` for missing documents.

    Example:
      >>> ranks_of([b"d1", b"d2"], [b"d3", b"d1"]).tolist()
      [2.0, inf]
    """
    rank_of = {doc_id: rank for rank, doc_id in enumerate(ranked, 1)}
    return np.array([rank_of.get(doc_id, NEVER) for doc_id in doc_ids], np.float64)
