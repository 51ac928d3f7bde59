"""BM25 over a whole collection, of which a part at a time is held in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.batches import batches
from models.bm25 import Bm25
from models.corpus_index.best_places import best_places
from models.inverted_index import InvertedIndex
from models.ranking import rank
from models.term_matrix import TermMatrix

_AT_ONCE: Final = 1 << 16
"""Documents whose words are held at a time."""
_BATCH: Final = 4096


class Ranked(NamedTuple):
    """Documents, best first."""

    doc_ids: npt.NDArray[np.object_]
    """bytes [documents]."""
    scores: npt.NDArray[np.float32]


_NOTHING: Final = Ranked(np.zeros(0, object), np.zeros(0, np.float32))


def search_by_bm25(
    queries: Sequence[Sequence[bytes]],
    read_collection: Callable[[], Iterable[tuple[bytes, bytes]]],
    max_tokens: int,
    most: int,
    told: Callable[[int, int], None] = lambda done, documents: None,
) -> list[Ranked]:
    """The best documents of a collection for each query, by `models.bm25.Bm25`.

    A document that shares no word with the query is not found. Of equal scores the larger id comes first.

    Args:
      queries: tokens of each.
      read_collection: reads id and text of every document; it is called twice, for the statistics come first.
      max_tokens: the model's limit on a text.
      most: documents for a query.
      told: is called with the number of documents that were scored and of all, again and again.
    """
    bm25 = Bm25(queries, (text for _, text in read_collection()), max_tokens)
    terms = [np.array(sorted({*query}), object) for query in queries]
    found = [_NOTHING] * len(queries)
    done = 0
    for ids, index in _parts(bm25, read_collection()):
        for number, words in enumerate(terms):
            scores = index.scores(words, np.ones(len(words), np.float32))
            places = best_places(np.where(scores > 0, scores, -np.inf), most)
            found[number] = _best(found[number], Ranked(ids[places], scores[places]), most)
        done += len(ids)
        told(done, bm25.documents)
    return found


def _parts(
    bm25: Bm25, collection: Iterable[tuple[bytes, bytes]]
) -> Iterator[tuple[npt.NDArray[np.object_], InvertedIndex]]:
    """The ids of some documents, and the index of what their words weigh."""
    for part in batches(collection, _AT_ONCE):
        weights = TermMatrix()
        for batch in batches(part, _BATCH):
            weights.add_rows(bm25.words, bm25.term_weights([text for _, text in batch]).astype(np.float32))
        yield np.array([doc_id for doc_id, _ in part], object), InvertedIndex.of(weights)


def _best(one: Ranked, other: Ranked, most: int) -> Ranked:
    ids, scores = np.concatenate([one.doc_ids, other.doc_ids]), np.concatenate([one.scores, other.scores])
    order = rank(scores, ids.tolist())[:most]
    return Ranked(ids[order], scores[order])
