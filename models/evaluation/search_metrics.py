"""The metrics of a search, from the ranks of a query's judged documents in a ranking of the whole collection.

A ranking is cut at `DEPTH` documents. A judged document that is not among them counts as never found: it adds nothing
to any metric, and its reciprocal rank is 0. A document without a judgment for the query is not relevant to it. Rankings
are in the order of `models.lists.ranking`: ties by document id descending. Grades and relevance are as in
`metrics.py`; a query without a relevant document scores 0 and counts.

Importing this file does not import TensorFlow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

DEPTH: Final = 1000
"""The number of documents of a ranking that count."""
NEVER: Final = np.inf
"""The rank of a document that was not found."""

_Formula = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64], int], Any]
"""Computes a metric from the grades and ranks of a query's relevant documents, and the cutoff."""


def _recall(grades: npt.NDArray[np.float64], ranks: npt.NDArray[np.float64], cutoff: int) -> Any:
    return (ranks <= cutoff).mean()


def _precision(grades: npt.NDArray[np.float64], ranks: npt.NDArray[np.float64], cutoff: int) -> Any:
    return (ranks <= cutoff).sum() / cutoff


def _reciprocal_rank(grades: npt.NDArray[np.float64], ranks: npt.NDArray[np.float64], cutoff: int) -> Any:
    first = ranks.min()
    return 1 / first if first <= cutoff else 0.0


def _ndcg(grades: npt.NDArray[np.float64], ranks: npt.NDArray[np.float64], cutoff: int) -> Any:
    is_ranked = ranks <= cutoff
    ideal = np.sort(grades)[::-1][:cutoff]
    best = (ideal / np.log2(1 + np.arange(1, len(ideal) + 1))).sum()
    return (grades[is_ranked] / np.log2(1 + ranks[is_ranked])).sum() / best


@dataclass(frozen=True)
class SearchMetric:
    """A metric of a search.

    Attributes:
      key: its name in files; if `METRICS` in `metrics.py` has it, too, that is the same metric of a sampled list.
      definition: its definition for readers of a report.
      mr_only: whether only MR documents are relevant, instead of all from grade 1 on.
      cutoff: the number of documents that count, from the top.
      formula: its computation.
    """

    key: str
    definition: str
    mr_only: bool
    cutoff: int
    formula: _Formula


SEARCH_METRICS: Final[dict[str, SearchMetric]] = {
    metric.key: metric
    for metric in (
        SearchMetric("p_mr_1", "share of queries with an MR document at rank 1.", True, 1, _precision),
        SearchMetric("ndcg_5", "linear gain, cut off at 5; ideal order of all judged documents.", False, 5, _ndcg),
        SearchMetric("ndcg_10", "the same, cut off at 10.", False, 10, _ndcg),
        SearchMetric("ndcg_20", "the same, cut off at 20.", False, 20, _ndcg),
        SearchMetric(
            "mrr_mr", f"reciprocal rank of the first MR document; 0 below {DEPTH}.", True, DEPTH, _reciprocal_rank
        ),
        SearchMetric("mrr_r", f"that of the first MR or SR document; 0 below {DEPTH}.", False, DEPTH, _reciprocal_rank),
        SearchMetric("recall_mr_10", "share of MR documents among the first 10.", True, 10, _recall),
        SearchMetric("recall_10", "share of MR and SR documents among the first 10.", False, 10, _recall),
        SearchMetric("recall_100", "share of them among the first 100.", False, 100, _recall),
        SearchMetric("recall_1000", "share of them among the first 1,000.", False, DEPTH, _recall),
    )
}
"""All metrics by their keys."""


def search_metrics(
    grades: Sequence[npt.NDArray[np.int64]], ranks: Sequence[npt.NDArray[np.float64]], top_grade: int
) -> dict[str, npt.NDArray[np.float64]]:
    """The value of every metric for every query.

    Args:
      grades: the grades of each query's judged documents, int [judged].
      ranks: the ranks of the same documents, from 1, `NEVER` for one that was not found: float [judged].
      top_grade: the MR grade.

    Returns:
      key to float [queries].

    Example:
      >>> values = search_metrics([np.array([2, 1])], [np.array([2.0, NEVER])], top_grade=2)  # SR was not found
      >>> values["mrr_mr"].tolist(), values["recall_10"].tolist(), values["recall_mr_10"].tolist()
      ([0.5], [0.5], [1.0])
    """
    values = {key: np.zeros(len(grades)) for key in SEARCH_METRICS}
    for query, (query_grades, query_ranks) in enumerate(zip(grades, ranks, strict=True)):
        for is_relevant, mr_only in ((query_grades == top_grade, True), (query_grades > 0, False)):
            if not is_relevant.any():
                continue
            relevant_grades, relevant_ranks = query_grades[is_relevant].astype(np.float64), query_ranks[is_relevant]
            for key, metric in SEARCH_METRICS.items():
                if metric.mr_only == mr_only:
                    values[key][query] = metric.formula(relevant_grades, relevant_ranks, metric.cutoff)
    return values


def ranks_of(doc_ids: Sequence[bytes], ranked: Sequence[bytes]) -> npt.NDArray[np.float64]:
    """The ranks of documents in a ranking, from 1; `NEVER` for a document that it lacks.

    Example:
      >>> ranks_of([b"d1", b"d2"], [b"d3", b"d1"]).tolist()
      [2.0, inf]
    """
    rank_of = {doc_id: rank for rank, doc_id in enumerate(ranked, 1)}
    return np.array([rank_of.get(doc_id, NEVER) for doc_id in doc_ids], np.float64)
