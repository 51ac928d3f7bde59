"""The metrics of a ranking, query by query, from the two TREC files that an evaluation writes."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from models.metrics import per_query_metrics
from schemas.trec import parse_qrels, parse_run


def run_metrics(run: Iterable[str], qrels: Iterable[str], top_grade: int) -> dict[str, npt.NDArray[np.float64]]:
    """Every metric for every query, in the order of the queries' ids.

    Args:
      run: lines of the run file, each query's in ranked order.
      qrels: lines of the judgments of the same lists.
      top_grade: the MR grade.

    Raises:
      ValueError: the files do not hold the same lists.
    """
    ranked, judged = parse_run(run), parse_qrels(qrels)
    if {query_id: set(one) for query_id, one in ranked.items()} != {
        query_id: set(one) for query_id, one in judged.items()
    }:
        raise ValueError("run and qrels must hold the same lists")
    grades = [np.array([judged[query_id][doc_id] for doc_id in ranked[query_id]]) for query_id in sorted(ranked)]
    return per_query_metrics(grades, top_grade)
