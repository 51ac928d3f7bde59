"""The order of a list: score descending as float32, ties by document id descending (bytewise), as trec_eval's.

TF-Ranking alone would break ties at random.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from models.lists.ranking_lists import RankingLists
from schemas.errors import DataError
from schemas.trec import run_lines


def rank(scores: npt.NDArray[np.float32], doc_ids: Sequence[Any]) -> npt.NDArray[np.int64]:
    """The order of a list: score descending, ties by document id descending (as trec_eval).

    Args:
      scores: float32 [list_size].
      doc_ids: the documents' ids, UTF-8 as bytes, or whatever else shall break the ties.

    Returns:
      int [list_size], places of the list from best to worst.
    """
    by_id = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True)
    return np.asarray(by_id, np.int64)[np.argsort(-np.asarray(scores, np.float32)[by_id], kind="stable")]


def ranked_grades(
    query_ids: Sequence[bytes],
    doc_ids: Sequence[Sequence[bytes]],
    scores: Sequence[npt.NDArray[np.float32]],
    grades: Sequence[npt.NDArray[np.int64]],
) -> list[npt.NDArray[np.int64]]:
    """The grades of every list in ranked order.

    Raises:
      DataError: a score is NaN or infinite.
    """
    ranked = []
    for query_id, ids, list_scores, list_grades in zip(query_ids, doc_ids, scores, grades, strict=True):
        finite = np.isfinite(list_scores)
        if not finite.all():
            place = int(np.argmin(finite))
            raise DataError(
                f"scores must be finite; query {query_id.decode()} got {list_scores[place]} for document "
                f"{ids[place].decode()}. The model has diverged: lower training.learning_rate or raise model.epsilon."
            )
        ranked.append(np.asarray(list_grades)[rank(list_scores, ids)])
    return ranked


def ranking_run(
    lists: RankingLists, scores: Iterable[Sequence[float] | npt.NDArray[np.float32]], tag: str
) -> Iterator[str]:
    """The lines of a run file, one list after the other, each from its best document to its worst.

    Args:
      lists: the lists.
      scores: of each list's documents, in its order.
      tag: names the system.
    """
    for query_id, doc_ids, of_list in zip(lists.query_ids, lists.doc_ids, scores, strict=True):
        order = rank(np.asarray(of_list, np.float32), doc_ids)
        ranked = [doc_ids[place].decode() for place in order]
        yield from run_lines(query_id.decode(), ranked, [float(of_list[place]) for place in order], tag)
