"""Searches an index on disk."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import EncodedQuery
from models.lists.feedback import FIRST_PASS, Feedback, Similarity
from models.lists.ranking import best_rows, rank
from schemas.errors import DataError
from schemas.index_manifest import SEGMENTS, VECTORS_FILE, Drift, SegmentRecord
from schemas.wikiclir import Text
from smooth_clir.retrieval.index_files import LOADED_BYTES, describe_faults, file_faults, read_manifest, removed_rows
from smooth_clir.retrieval.near_vectors import NearVectors
from smooth_clir.retrieval.search_index import DEPTH, Found
from smooth_clir.retrieval.segment import MOST_DOCUMENTS, EncodedDocument, Segment

_PLACE: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,9})", re.ASCII)
"""The place of a segment in the index, and a row of it."""

_Scores = npt.NDArray[np.float32]
_Places = npt.NDArray[np.int64]


class _Ranked(NamedTuple):
    """Documents, best first, with the parts of their scores: [documents] each."""

    places: _Places
    dense: _Scores
    words: _Scores
    feedback: _Scores

    def take(self, order: _Places) -> "_Ranked":
        """Returns the documents in another order."""
        return _Ranked(self.places[order], self.dense[order], self.words[order], self.feedback[order])


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
            return self._hits(self._first_pass(query, limit, depth))
        first = self._first_pass(query, max(limit, DEPTH), depth)
        scores = first.dense + first.words
        added = feedback.added(scores, np.arange(len(scores)), self._similarity(first.places))
        order = self._order(scores + added, first.places, limit)
        return self._hits(first._replace(feedback=added).take(order))

    def _first_pass(self, query: EncodedQuery, limit: int, depth: int) -> "_Ranked":
        if not query.vector.any():
            return self._best_by_words(query, limit)
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
            return self._hits(self._best(self._dense(query), nothing, np.arange(len(nothing)), limit))
        places = np.sort(self._near_places(query, limit))
        return self._hits(self._best(self._dense(query, places), nothing[places], places, limit))

    def words_search(self, query: EncodedQuery, limit: int) -> list[Found]:
        """The best documents by words that match alone; each matches at least one word."""
        return self._hits(self._best_by_words(query, limit))

    def _best_by_words(self, query: EncodedQuery, limit: int) -> "_Ranked":
        words = self._words(query)
        places = _matching(words, limit)
        return self._best(np.zeros(len(places), np.float32), words[places], places, limit)

    def _similarity(self, places: _Places) -> Similarity:
        """Compares the documents at places by their own terms, segment by segment."""
        segments, rows = self._segment_rows(places)

        def similarity(best: _Places, weights: _Scores) -> _Scores:
            terms: defaultdict[bytes, float] = defaultdict(float)
            for number, row, weight in zip(segments[best], rows[best], weights.tolist(), strict=True):
                for term, own_weight in self._segments[number].own_terms(row).items():
                    terms[term] += weight * own_weight
            products = np.zeros(len(places), np.float32)
            term_weights = np.array([*terms.values()], np.float32)
            # The weight of each column, for one segment after the other; the last is for terms unknown there.
            column_weights = np.zeros(1 + max(len(segment.words.terms) for segment in self._segments), np.float32)
            for number in np.unique(segments).tolist():
                segment, in_segment = self._segments[number], segments == number
                columns = segment.words.columns_of(terms)
                column_weights[columns] = term_weights
                products[in_segment] = segment.own_products(column_weights, rows[in_segment])
                column_weights[columns] = 0
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

    def _best(self, dense: _Scores, words: _Scores, places: _Places, limit: int) -> "_Ranked":
        """The best of the documents at places, by the sum of both scores."""
        order = self._order(dense + words, places, limit)
        return _Ranked(places[order], dense[order], words[order], np.zeros(len(order), np.float32))

    def _order(self, scores: _Scores, places: _Places, limit: int) -> _Places:
        """The order of the best of the documents at places; only the ids of those with equal scores are read."""
        best = best_rows(scores, limit)
        _, group, sizes = np.unique(scores[best], return_inverse=True, return_counts=True)
        is_tied = sizes[group] > 1
        ids = np.full(len(best), b"", object)
        ids[is_tied] = self._doc_ids(places[best[is_tied]])
        order: _Places = best[rank(scores[best], ids.tolist())[:limit]]
        return order

    def _segment_rows(self, places: _Places) -> tuple[_Places, _Places]:
        """The number of the segment of the document at each place, and its row there."""
        segments = np.searchsorted(self._starts, places, side="right") - 1
        return segments, places - self._starts[segments]

    def _doc_ids(self, places: _Places) -> list[bytes]:
        segments, rows = self._segment_rows(places)
        return [
            self._segments[segment].doc_id(row) for segment, row in zip(segments.tolist(), rows.tolist(), strict=True)
        ]

    def _hits(self, ranked: "_Ranked") -> list[Found]:
        places = [f"{segment}:{row}" for segment, row in zip(*self._segment_rows(ranked.places), strict=True)]
        scores = ranked.dense + ranked.words + ranked.feedback
        dense, words, feedback = (part.tolist() for part in (ranked.dense, ranked.words, ranked.feedback))
        return [*map(Found, places, scores.tolist(), dense, words, self._doc_ids(ranked.places), feedback)]


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
    places = best_rows(words, limit)
    found: _Places = places[words[places] > 0]
    return found
