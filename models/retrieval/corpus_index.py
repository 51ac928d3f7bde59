"""The best of many scores, with all that are equal to the last of them."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import EncodedQuery
from models.retrieval.near_vectors import NearVectors
from models.retrieval.ranking import rank
from models.retrieval.segment import MOST_DOCUMENTS, Segment
from schemas.errors import DataError
from schemas.index_manifest import FORMAT, MANIFEST_FILE, REMOVED, SEGMENTS, VECTORS_FILE, IndexManifest
from schemas.wikiclir import Text

_BLOCK: Final = 256


def best_places(scores: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.int64]:
    """The places of the best scores, and of those that are equal to the last of these, in no order.

    The best of a block is found first: so many blocks as are asked for hold so many scores at least as good as the last
    of their bests, so that all smaller ones need no second look.

    Args:
      scores: float32 [documents]; -inf is the score of nothing.
      most: 1 at least.

    Example:
      >>> best_places(np.array([0.5, 2.0, 1.0, 1.0], np.float32), 2).tolist()
      [1, 2, 3]
    """
    whole = len(scores) // _BLOCK * _BLOCK
    bests = scores[:whole].reshape(-1, _BLOCK).max(axis=1)
    least = _last_of_best(bests, most) if len(bests) >= most else -np.inf
    places = np.flatnonzero((scores >= least) & (scores > -np.inf))
    if len(places) <= most:
        return places
    found: npt.NDArray[np.int64] = places[scores[places] >= _last_of_best(scores[places], most)]
    return found


def _last_of_best(scores: npt.NDArray[np.float32], most: int) -> Any:
    return np.partition(scores, -most)[-most]


DEPTH: Final = 1000
"""Candidates that each channel brings where not every document is scored."""

_Scores = npt.NDArray[np.float32]
_Places = npt.NDArray[np.int64]


class Found(NamedTuple):
    """A document that was found."""

    segment: int
    """The place of its segment in the index."""
    row: int
    score: float
    dense: float
    """What the vectors add to the score."""
    words: float
    """What the words that match add to it."""
    doc_id: bytes


class CorpusIndex:
    """One version of an index.

        score(q, d) = <vector of q, vector of d> + sum over the terms of both of weight of q * weight of d

    The words of all documents are always scored. So are their vectors where the documents are few; where they are many,
    each channel brings `DEPTH` candidates, the vectors' by `NearVectors`, and the score of all these is exact.

    Args:
      folder: of the version, see `schemas.index_manifest`.

    Attributes:
      manifest: what the version says of itself.

    Raises:
      DataError: there is no index in the folder, it is damaged, or of a form that this version does not know.
    """

    def __init__(self, folder: str) -> None:
        self.manifest = read_manifest(folder)
        try:
            self._segments = [
                Segment(os.path.join(folder, SEGMENTS, str(one.number)), one, removed_rows(folder, one.number))
                for one in self.manifest.segments
            ]
            self._near = (
                NearVectors.load(os.path.join(folder, VECTORS_FILE), self.manifest.probes)
                if self.manifest.lists
                else None
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise DataError(f"{folder} must hold a whole index: {str(error).splitlines()[0]}.") from None
        # Where each segment begins among all rows, and their end.
        self._starts = np.cumsum([0, *map(len, self._segments)])

    def __len__(self) -> int:
        return self.manifest.documents

    def document(self, segment: int, row: int) -> Text:
        """A document by the place of its segment, and its row there."""
        return self._segments[segment].document(row)

    def holds(self, segment: int, row: int) -> bool:
        """Whether a document has this place: there is such a row, and it was not removed."""
        if not 0 <= segment < len(self._segments) or not 0 <= row < len(self._segments[segment]):
            return False
        return not self._segments[segment].is_removed[row]

    def documents(self) -> Iterator[Text]:
        """Every document."""
        for segment in self._segments:
            for row in segment.kept.tolist():
                yield segment.document(row)

    def search(self, query: EncodedQuery, most: int, depth: int = DEPTH) -> list[Found]:
        """The best documents for a query: by score, and of equal ones the larger id first.

        None for a query of which the model knows no word.

        Args:
          query: what is searched for.
          most: how many.
          depth: candidates of each channel, where not all are scored; as many as there are documents: all are.
        """
        if not query.vector.any():
            return self.words_search(query, most)
        words = self._words(query)
        if self._near is None or depth >= len(self):
            return self._best(self._dense(query), words, np.arange(len(words)), most)
        depth = max(most, depth)
        places = np.union1d(self._near_places(query, depth), _matching(words, depth))
        return self._best(self._dense(query, places), words[places], places, most)

    def dense_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by their vectors alone; where not all are compared, some may be missing."""
        if not query.vector.any():
            return []
        nothing = self._over_segments([np.zeros(len(segment), np.float32) for segment in self._segments])
        if self._near is None:
            return self._best(self._dense(query), nothing, np.arange(len(nothing)), most)
        places = np.sort(self._near_places(query, most))
        return self._best(self._dense(query, places), nothing[places], places, most)

    def words_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by words that match alone: those that match one, and exactly these."""
        words = self._words(query)
        places = _matching(words, most)
        return self._best(np.zeros(len(places), np.float32), words[places], places, most)

    def _words(self, query: EncodedQuery) -> _Scores:
        """What words add to the score of each document, one segment after the other; -inf for what was removed."""
        return self._over_segments([segment.words.scores(query.terms, query.weights) for segment in self._segments])

    def _over_segments(self, scores: Sequence[_Scores]) -> _Scores:
        """The scores of all segments, one after the other; -inf for what was removed."""
        removed = (one.without_removed(of_it) for one, of_it in zip(self._segments, scores, strict=True))
        return np.concatenate([*removed, np.zeros(0, np.float32)])

    def _dense(self, query: EncodedQuery, places: _Places | None = None) -> _Scores:
        """What vectors add to the score of each document, or of those at places, which are sorted."""
        rows: Sequence[_Places | None] = [None] * len(self._segments)
        if places is not None:
            bounds = np.searchsorted(places, self._starts).tolist()
            rows = [
                places[start:end] - first
                for start, end, first in zip(bounds, bounds[1:], self._starts.tolist(), strict=False)
            ]
        products = [
            segment.inner_products(query.vector, of_it) for segment, of_it in zip(self._segments, rows, strict=True)
        ]
        return np.concatenate([*products, np.zeros(0, np.float32)])

    def _near_places(self, query: EncodedQuery, most: int) -> _Places:
        """The places of near vectors, in no order."""
        numbers = self._near.search(query.vector, most) if self._near else np.zeros(0, np.int64)
        segments = np.searchsorted([segment.number for segment in self._segments], numbers // MOST_DOCUMENTS)
        found: _Places = self._starts[segments] + numbers % MOST_DOCUMENTS
        return found

    def _best(self, dense: _Scores, words: _Scores, places: _Places, most: int) -> list[Found]:
        """The best of the documents at places, by both parts of their scores."""
        scores = dense + words
        best = best_places(scores, most)
        segments = np.searchsorted(self._starts, places[best], side="right") - 1
        rows = places[best] - self._starts[segments]
        ids = [self._segments[one].doc_id(row) for one, row in zip(segments.tolist(), rows.tolist(), strict=True)]
        return [
            Found(
                segment=int(segments[one]),
                row=int(rows[one]),
                score=float(scores[best[one]]),
                dense=float(dense[best[one]]),
                words=float(words[best[one]]),
                doc_id=ids[one],
            )
            for one in rank(scores[best], ids)[:most].tolist()
        ]


def document_numbers(segment: int, rows: _Places) -> _Places:
    """The numbers of documents among all versions of an index, by which `NearVectors` knows them."""
    return segment * MOST_DOCUMENTS + rows


def read_manifest(folder: str) -> IndexManifest:
    """What a version of an index says of itself.

    Raises:
      DataError: there is no index in the folder, or it is of a form that is not known.
    """
    try:
        with open(os.path.join(folder, MANIFEST_FILE), encoding="utf-8") as file:
            manifest = IndexManifest.from_json(file.read())
    except OSError as error:
        raise DataError(f"{folder} must hold an index ({MANIFEST_FILE}): {error.strerror}.") from None
    except ValueError as error:
        raise DataError(
            f"{folder}/{MANIFEST_FILE} must be what `clir index` wrote: {str(error).partition(';')[0]}."
        ) from None
    if manifest.format != FORMAT:
        raise DataError(
            f"{folder} must hold an index of format {FORMAT}; got {manifest.format}. Make it anew with `clir index`."
        )
    return manifest


def removed_rows(folder: str, number: int) -> npt.NDArray[np.int32]:
    """The rows of a segment that are documents no more."""
    path = os.path.join(folder, REMOVED, f"{number}.npy")
    rows: npt.NDArray[np.int32] = np.load(path) if os.path.exists(path) else np.zeros(0, np.int32)
    return rows


def _matching(words: _Scores, most: int) -> _Places:
    """The places of the best scores above 0, and of those equal to the last of these, sorted."""
    places = best_places(words, most)
    found: _Places = places[words[places] > 0]
    return found
