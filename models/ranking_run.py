"""Rankings of lists as the lines of a TREC run file."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from models.lists import RankingLists
from models.ranking import rank
from schemas.trec import run_lines


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
