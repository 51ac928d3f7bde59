"""Searches an index on disk."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from models.exported.model import EncodedQuery
from models.retrieval.feedback import FIRST_PASS, Feedback, Similarity
from models.retrieval.index_files import LOADED_BYTES, describe_faults, file_faults, read_manifest, removed_rows
from models.retrieval.near_vectors import NearVectors
from models.retrieval.ranking import best_places, rank
from models.retrieval.search_index import DEPTH, Found, second_pass
from models.retrieval.segment import MOST_DOCUMENTS, EncodedDocument, Segment
from schemas.errors import DataError
from schemas.index_manifest import SEGMENTS, VECTORS_FILE, Drift, SegmentRecord
from schemas.wikiclir import Text

_PLACE: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,9})", re.ASCII)
"""The place of a segment in the index, and a row of it."""

_Scores = npt.NDArray[np.float32]
_Places = npt.NDArray[np.int64]


class CorpusIndex:
    """A `SearchIndex` on disk: one version of it.

    The words of all documents are always scored. If the documents are few, so are all vectors. If they are many, each
    channel brings `DEPTH` candidates, those of the vectors by `NearVectors`.

    The digests of its files are compared up to `LOADED_BYTES`, the lengths of all.

    Args:
      folder: the folder of the version, see `schemas.index_manifest`.

    Attributes:
      manifest: the version's manifest.

    Raises:
      DataError: the folder holds no index, a damaged one, or one of another format.
    """

    def __init__(self, folder: str) -> None:
        self.manifest = read_manifest(folder)
        if faults := file_faults(folder, self.manifest, LOADED_BYTES):
            raise DataError(f"{folder} must hold a whole index: {describe_faults(faults)}.")
        try:
            self._segments = open_segments(folder, self.manifest.segments)
            self._near = (
                NearVectors.load(os.path.join(folder, VECTORS_FILE), self.manifest.probes)
                if self.manifest.lists
                else None
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise DataError(f"{folder} must hold a whole index: {str(error).splitlines()[0]}.") from None
        # The first row of each segment among all rows, and their end.
        self._starts = np.cumsum([0, *map(len, self._segments)])

    def __len__(self) -> int:
        return self.manifest.documents

    @property
    def model(self) -> str:
        """The fingerprint of the model that made the index."""
        return self.manifest.model

    @property
    def identity(self) -> str:
        """The index by its content."""
        return self.manifest.identity

    @property
    def drift(self) -> Drift:
        """The distance of the documents from those of the model."""
        return self.manifest.drift

    def texts(self, places: Sequence[str]) -> list[Text]:
        """The documents at some places; see `SearchIndex`."""
        return [self._text(place) for place in places]

    def _text(self, place: str) -> Text:
        if match := _PLACE.fullmatch(place):
            number, row = int(match[1]), int(match[2])
            if number < len(self._segments) and row < len(segment := self._segments[number]):
                if not segment.is_removed[row]:
                    return segment.document(row)
        raise LookupError(place)

    def documents(self) -> Iterator[Text]:
        """Every document."""
        for segment in self._segments:
            for row in segment.kept.tolist():
                yield segment.document(row)

    def encoded_documents(self) -> Iterator[EncodedDocument]:
        """Every document as it is compared with a query."""
        return chain.from_iterable(segment.encoded_documents() for segment in self._segments)

    @property
    def has_own_terms(self) -> bool:
        """Whether it holds the documents' own terms."""
        return self.manifest.has_own_terms

    def search(
        self, query: EncodedQuery, limit: int, feedback: Feedback = FIRST_PASS, depth: int = DEPTH
    ) -> list[Found]:
        """The best documents for a query: by score, and of equal scores the larger id first.

        Args:
          query: the query; if the model knows no word of it, nothing is found.
          limit: the largest number of documents.
          feedback: the second pass, for which the index must have own terms; see `SearchIndex`.
          depth: the number of candidates of each channel; at least as many as documents scores all of them.
        """
        if not feedback.gain:
            return self._first_pass(query, limit, depth)
        hits = self._first_pass(query, max(limit, DEPTH), depth)
        return second_pass(hits, feedback, self._similarity(hits), limit)

    def _first_pass(self, query: EncodedQuery, limit: int, depth: int) -> list[Found]:
        if not query.vector.any():
            return self.words_search(query, limit)
        words = self._words(query)
        if self._near is None or depth >= len(self):
            return self._best(self._dense(query), words, np.arange(len(words)), limit)
        depth = max(limit, depth)
        places = np.union1d(self._near_places(query, depth), _matching(words, depth))
        return self._best(self._dense(query, places), words[places], places, limit)

    def dense_search(self, query: EncodedQuery, limit: int) -> list[Found]:
        """The best documents by their vectors alone; where not all vectors are compared, some may be missing."""
        if not query.vector.any():
            return []
        nothing = self._over_segments([np.zeros(len(segment), np.float32) for segment in self._segments])
        if self._near is None:
            return self._best(self._dense(query), nothing, np.arange(len(nothing)), limit)
        places = np.sort(self._near_places(query, limit))
        return self._best(self._dense(query, places), nothing[places], places, limit)

    def words_search(self, query: EncodedQuery, limit: int) -> list[Found]:
        """The best documents by words that match alone; each matches at least one word."""
        words = self._words(query)
        places = _matching(words, limit)
        return self._best(np.zeros(len(places), np.float32), words[places], places, limit)

    def _similarity(self, hits: Sequence[Found]) -> Similarity:
        """Compares hits by their own terms, segment by segment."""
        places = np.array([[*map(int, hit.place.split(":"))] for hit in hits], np.int64).reshape(-1, 2)

        def similarity(best: _Places, weights: _Scores) -> _Scores:
            terms: defaultdict[bytes, float] = defaultdict(float)
            for (segment, row), weight in zip(places[best].tolist(), weights.tolist(), strict=True):
                for term, own_weight in self._segments[segment].own_terms(row).items():
                    terms[term] += weight * own_weight
            products = np.zeros(len(hits), np.float32)
            for segment in np.unique(places[:, 0]).tolist():
                in_segment = places[:, 0] == segment
                products[in_segment] = self._segments[segment].own_products(terms, places[in_segment, 1])
            return products

        return similarity

    def _words(self, query: EncodedQuery) -> _Scores:
        """The score of the words of each document, segment by segment; -inf for a removed one."""
        return self._over_segments([segment.words.scores(query.terms, query.weights) for segment in self._segments])

    def _over_segments(self, scores: Sequence[_Scores]) -> _Scores:
        """Joins the scores of all segments, with -inf for removed documents."""
        removed = (one.without_removed(of_it) for one, of_it in zip(self._segments, scores, strict=True))
        return np.concatenate([*removed, np.zeros(0, np.float32)])

    def _dense(self, query: EncodedQuery, places: _Places | None = None) -> _Scores:
        """The score of the vector of each document, or of the documents at sorted places."""
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

    def _near_places(self, query: EncodedQuery, limit: int) -> _Places:
        """The places of the nearest vectors, in no order."""
        numbers = self._near.search(query.vector, limit) if self._near else np.zeros(0, np.int64)
        segments = np.searchsorted([segment.number for segment in self._segments], numbers // MOST_DOCUMENTS)
        found: _Places = self._starts[segments] + numbers % MOST_DOCUMENTS
        return found

    def _best(self, dense: _Scores, words: _Scores, places: _Places, limit: int) -> list[Found]:
        """The best of the documents at places, by the sum of both scores."""
        scores = dense + words
        best = best_places(scores, limit)
        segments = np.searchsorted(self._starts, places[best], side="right") - 1
        rows = places[best] - self._starts[segments]
        ids = [self._segments[one].doc_id(row) for one, row in zip(segments.tolist(), rows.tolist(), strict=True)]
        return [
            Found(
                place=f"{segments[one]}:{rows[one]}",
                score=float(scores[best[one]]),
                dense=float(dense[best[one]]),
                words=float(words[best[one]]),
                doc_id=ids[one],
            )
            for one in rank(scores[best], ids)[:limit].tolist()
        ]


def document_numbers(segment: int, rows: _Places) -> _Places:
    """The numbers of documents in `NearVectors`, which are unique among all versions of an index."""
    return segment * MOST_DOCUMENTS + rows


def open_segments(folder: str, records: Iterable[SegmentRecord]) -> list[Segment]:
    """The segments of a version of an index, without the documents that were removed.

    Args:
      folder: the folder of the version.
      records: the segments' records in its manifest.

    Raises:
      OSError: a file is missing.
      ValueError: a file has another form than its record.
    """
    return [
        Segment(os.path.join(folder, SEGMENTS, str(record.number)), record, removed_rows(folder, record))
        for record in records
    ]


def _matching(words: _Scores, limit: int) -> _Places:
    """The places of the best scores above 0, and of all scores equal to the last of them, sorted."""
    places = best_places(words, limit)
    found: _Places = places[words[places] > 0]
    return found
