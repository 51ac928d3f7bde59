"""The order of documents: score descending as float32, ties by document id descending (bytewise), as trec_eval's.

Metrics of lists do not read it: they are means over the orders of equal scores, see `models.evaluation.metrics`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from models.lists.ranking_lists import RankingLists
from schemas.trec import run_lines

_BLOCK: Final = 256


def rank(scores: npt.NDArray[np.float32], doc_ids: Sequence[Any]) -> npt.NDArray[np.int64]:
    """The order of a list: score descending, ties by document id descending (as trec_eval).

    Args:
      scores: float32 [list_size].
      doc_ids: the documents' ids, UTF-8 as bytes, or other values that break ties.

    Returns:
      rows of the list from best to worst, int [list_size].
    """
    by_id = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True)
    return np.asarray(by_id, np.int64)[np.argsort(-np.asarray(scores, np.float32)[by_id], kind="stable")]


def best_rows(scores: npt.NDArray[np.float32], limit: int) -> npt.NDArray[np.int64]:
    """Returns the rows of the best scores, and of all scores equal to the last of them, unordered.

    The `limit`-th best of the blocks' best scores is a lower bound, which skips most rows.

    Args:
      scores: float32 [documents]; -inf marks a row without a document.
      limit: the number of best scores, at least 1.

    Example:
      >>> best_rows(np.array([0.5, 2.0, 1.0, 1.0], np.float32), 2).tolist()
      [1, 2, 3]
    """
    whole = len(scores) // _BLOCK * _BLOCK
    bests = scores[:whole].reshape(-1, _BLOCK).max(axis=1)
    lower_bound = np.partition(bests, -limit)[-limit] if len(bests) >= limit else -np.inf
    rows = np.flatnonzero((scores >= lower_bound) & (scores > -np.inf))
    if len(rows) <= limit:
        return rows
    row_scores = scores[rows]
    chosen: npt.NDArray[np.int64] = rows[row_scores >= np.partition(row_scores, -limit)[-limit]]
    return chosen


def ranking_run(
    lists: RankingLists, scores: Iterable[Sequence[float] | npt.NDArray[np.float32]], tag: str
) -> Iterator[str]:
    """Yields the lines of a run file, list by list, each from its best document to its worst, by its best passage.

    Args:
      lists: query lists.
      scores: the scores of each list's documents, in its order.
      tag: the system's name.
    """
    documents, best_scores = lists.whole_documents, lists.best_passages(list(scores))
    for query_id, doc_ids, list_scores in zip(documents.query_ids, documents.doc_ids, best_scores, strict=True):
        order = rank(np.asarray(list_scores, np.float32), doc_ids)
        ranked = [doc_ids[row].decode() for row in order]
        yield from run_lines(query_id.decode(), ranked, [float(list_scores[row]) for row in order], tag)
