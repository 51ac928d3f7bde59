"""Searches an index on disk."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import EncodedQuery
from models.lists.feedback import FIRST_PASS, Feedback, Similarity
from models.lists.ranking import best_rows, rank
from schemas.errors import DataError
from schemas.index_manifest import SEGMENTS, VECTORS_FILE, Drift, FieldRecord, SegmentRecord
from schemas.passages import is_first_passage
from schemas.wikiclir import Text
from smooth_clir.retrieval.index_files import LOADED_BYTES, describe_faults, file_faults, read_manifest, removed_rows
from smooth_clir.retrieval.near_vectors import MIN_VECTORS, NearVectors
from smooth_clir.retrieval.search_index import DEPTH, IndexHit
from smooth_clir.retrieval.segment import MAX_DOCUMENTS, EncodedDocument, Segment
from smooth_clir.retrieval.where import Where

_POSITION: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,9})", re.ASCII)
"""A document's position: the number of its segment in this version, and its row there."""

_Scores = npt.NDArray[np.float32]
_Rows = npt.NDArray[np.int64]


class _Ranked(NamedTuple):
    """Documents, best first, with the parts of their scores: [documents] each."""

    rows: _Rows
    dense: _Scores
    words: _Scores
    feedback: _Scores

    def take(self, order: _Rows) -> "_Ranked":
        """Returns the documents in another order."""
        return _Ranked(self.rows[order], self.dense[order], self.words[order], self.feedback[order])


class CorpusIndex:
    """A `SearchIndex` on disk: one version of it.

    Scores the words of every document. If the documents are few, it also scores every vector; if they are many, each
    channel brings `DEPTH` candidates, the vectors' by `NearVectors`. With a filter, the matching documents are few or
    many.

    Opening the index compares the lengths of all files, and the digests of up to `LOADED_BYTES`.

    Args:
      folder: the folder of the version, see `schemas.index_manifest`.

    Attributes:
      manifest: the version's manifest.

    Raises:
      DataError: the folder holds no index, or the index is damaged or has another format.
    """

    def __init__(self, folder: str) -> None:
        self.manifest = read_manifest(folder)
        if faults := file_faults(folder, self.manifest, LOADED_BYTES):
            raise DataError(f"The index {folder} is damaged: {describe_faults(faults)}.")
        try:
            self._segments = open_segments(folder, self.manifest.segments)
            self._near = (
                NearVectors.load(os.path.join(folder, VECTORS_FILE), self.manifest.probes)
                if self.manifest.lists
                else None
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise DataError(f"The index {folder} is damaged: {str(error).splitlines()[0]}.") from None
        # The first row of each segment among all rows, and their end.
        self._starts = np.cumsum([0, *map(len, self._segments)])

    def __len__(self) -> int:
        return self.manifest.documents

    def count_documents(self) -> int:
        """Counts the documents, whole or in passages; reads all ids."""
        return sum(
            is_first_passage(segment.doc_id(row).decode())
            for segment in self._segments
            for row in segment.kept_rows.tolist()
        )

    @property
    def model(self) -> str:
        return self.manifest.model

    @property
    def identity(self) -> str:
        return self.manifest.identity

    @property
    def drift(self) -> Drift:
        return self.manifest.drift

    @property
    def fields(self) -> Mapping[str, FieldRecord]:
        return self.manifest.fields

    def texts(self, positions: Sequence[str]) -> list[Text]:
        return [self._text(position) for position in positions]

    def _text(self, position: str) -> Text:
        if match := _POSITION.fullmatch(position):
            number, row = int(match[1]), int(match[2])
            if number < len(self._segments) and row < len(segment := self._segments[number]):
                if not segment.is_removed[row]:
                    return segment.document(row)
        raise LookupError(position)

    def documents(self) -> Iterator[Text]:
        for segment in self._segments:
            for row in segment.kept_rows.tolist():
                yield segment.document(row)

    def encoded_documents(self) -> Iterator[EncodedDocument]:
        """Yields every document as it is compared with a query."""
        return chain.from_iterable(segment.encoded_documents() for segment in self._segments)

    @property
    def has_own_terms(self) -> bool:
        return self.manifest.has_own_terms

    def search(
        self,
        query: EncodedQuery,
        limit: int,
        feedback: Feedback = FIRST_PASS,
        where: Where | None = None,
        depth: int = DEPTH,
    ) -> list[IndexHit]:
        """Returns the best documents for a query: by score, and of equal scores the larger id first.

        Args:
          query: the query; if the model knows no word of it, there are no hits.
          limit: the largest number of documents.
          feedback: the second pass, which needs the documents' own terms; see `SearchIndex`.
          where: a filter.
          depth: the number of candidates of each channel; all documents are scored if it is at least their number.
        """
        if not feedback.gain:
            return self._hits(self._first_pass(query, limit, depth, where))
        first = self._first_pass(query, max(limit, DEPTH), depth, where)
        scores = first.dense + first.words
        added = feedback.added(scores, np.arange(len(scores)), self._similarity(first.rows))
        order = self._order(scores + added, first.rows, limit)
        return self._hits(first._replace(feedback=added).take(order))

    def _first_pass(self, query: EncodedQuery, limit: int, depth: int, where: Where | None) -> "_Ranked":
        if not query.vector.any():
            return self._best_by_words(query, limit, where)
        words = self._words(query, where)
        if self._near is None or depth >= len(self):
            return self._best(self._dense(query), words, np.arange(len(words)), limit)
        allowed = np.flatnonzero(words > -np.inf) if where else None
        if allowed is not None and len(allowed) <= max(MIN_VECTORS, depth):
            return self._best(self._dense(query, allowed), words[allowed], allowed, limit)
        depth = max(limit, depth)
        rows = np.union1d(self._near_rows(query, depth, allowed), _matching(words, depth))
        return self._best(self._dense(query, rows), words[rows], rows, limit)

    def dense_search(self, query: EncodedQuery, limit: int) -> list[IndexHit]:
        if not query.vector.any():
            return []
        zeros = self._over_segments([np.zeros(len(segment), np.float32) for segment in self._segments])
        if self._near is None:
            return self._hits(self._best(self._dense(query), zeros, np.arange(len(zeros)), limit))
        rows = np.sort(self._near_rows(query, max(limit, DEPTH)))
        return self._hits(self._best(self._dense(query, rows), zeros[rows], rows, limit))

    def words_search(self, query: EncodedQuery, limit: int) -> list[IndexHit]:
        return self._hits(self._best_by_words(query, limit))

    def _best_by_words(self, query: EncodedQuery, limit: int, where: Where | None = None) -> "_Ranked":
        words = self._words(query, where)
        rows = _matching(words, limit)
        return self._best(np.zeros(len(rows), np.float32), words[rows], rows, limit)

    def _similarity(self, rows: _Rows) -> Similarity:
        """Compares the documents in these rows by their own terms, segment by segment."""
        segments, segment_rows = self._segment_rows(rows)

        def similarity(best: _Rows, weights: _Scores) -> _Scores:
            terms: defaultdict[bytes, float] = defaultdict(float)
            for number, row, weight in zip(segments[best], segment_rows[best], weights.tolist(), strict=True):
                for term, own_weight in self._segments[number].own_terms(row).items():
                    terms[term] += weight * own_weight
            products = np.zeros(len(rows), np.float32)
            term_weights = np.array([*terms.values()], np.float32)
            # The weight of each column, segment by segment; the last column is for terms that the segment lacks.
            column_weights = np.zeros(1 + max(len(segment.words.terms) for segment in self._segments), np.float32)
            for number in np.unique(segments).tolist():
                segment, in_segment = self._segments[number], segments == number
                columns = segment.words.columns_of(terms)
                column_weights[columns] = term_weights
                products[in_segment] = segment.own_products(column_weights, segment_rows[in_segment])
                column_weights[columns] = 0
            return products

        return similarity

    def _words(self, query: EncodedQuery, where: Where | None = None) -> _Scores:
        """Returns the score of each document's words, segment by segment; see `_over_segments`."""
        scores = [segment.words.scores(query.terms, query.weights) for segment in self._segments]
        return self._over_segments(scores, where)

    def _over_segments(self, scores: Sequence[_Scores], where: Where | None = None) -> _Scores:
        """Joins the scores of all segments, with -inf for removed documents, and for those beside a filter."""
        kept = (segment.without_others(part, where) for segment, part in zip(self._segments, scores, strict=True))
        return np.concatenate([*kept, np.zeros(0, np.float32)])

    def _dense(self, query: EncodedQuery, rows: _Rows | None = None) -> _Scores:
        """Returns the vectors' score of each document, or of the documents in these sorted rows."""
        segment_rows: Sequence[_Rows | None] = [None] * len(self._segments)
        if rows is not None:
            bounds = np.searchsorted(rows, self._starts).tolist()
            segment_rows = [
                rows[start:end] - first
                for start, end, first in zip(bounds, bounds[1:], self._starts.tolist(), strict=False)
            ]
        products = [
            segment.inner_products(query.vector, part)
            for segment, part in zip(self._segments, segment_rows, strict=True)
        ]
        return np.concatenate([*products, np.zeros(0, np.float32)])

    def _near_rows(self, query: EncodedQuery, limit: int, allowed: _Rows | None = None) -> _Rows:
        """Returns the rows of the nearest vectors, unsorted; all in these rows, if given."""
        segment_numbers = np.array([segment.number for segment in self._segments])
        among = None
        if allowed is not None:
            segments, segment_rows = self._segment_rows(allowed)
            among = segment_numbers[segments] * MAX_DOCUMENTS + segment_rows
        numbers = self._near.search(query.vector, limit, among) if self._near else np.zeros(0, np.int64)
        segments = np.searchsorted(segment_numbers, numbers // MAX_DOCUMENTS)
        rows: _Rows = self._starts[segments] + numbers % MAX_DOCUMENTS
        return rows

    def _best(self, dense: _Scores, words: _Scores, rows: _Rows, limit: int) -> "_Ranked":
        """Returns the best documents in these rows, by the sum of both scores."""
        order = self._order(dense + words, rows, limit)
        return _Ranked(rows[order], dense[order], words[order], np.zeros(len(order), np.float32))

    def _order(self, scores: _Scores, rows: _Rows, limit: int) -> _Rows:
        """Returns the order of the best documents in these rows. Reads ids only if scores are equal."""
        best = best_rows(scores, limit)
        _, group, sizes = np.unique(scores[best], return_inverse=True, return_counts=True)
        is_tied = sizes[group] > 1
        ids = np.full(len(best), b"", object)
        ids[is_tied] = self._doc_ids(rows[best[is_tied]])
        order: _Rows = best[rank(scores[best], ids.tolist())[:limit]]
        return order

    def _segment_rows(self, rows: _Rows) -> tuple[_Rows, _Rows]:
        """Returns the number of each row's segment, and the row's number there."""
        segments = np.searchsorted(self._starts, rows, side="right") - 1
        return segments, rows - self._starts[segments]

    def _doc_ids(self, rows: _Rows) -> list[bytes]:
        segments, segment_rows = (part.tolist() for part in self._segment_rows(rows))
        return [self._segments[segment].doc_id(row) for segment, row in zip(segments, segment_rows, strict=True)]

    def _hits(self, ranked: "_Ranked") -> list[IndexHit]:
        positions = [f"{segment}:{row}" for segment, row in zip(*self._segment_rows(ranked.rows), strict=True)]
        scores = ranked.dense + ranked.words + ranked.feedback
        dense, words, feedback = (part.tolist() for part in (ranked.dense, ranked.words, ranked.feedback))
        return [*map(IndexHit, positions, scores.tolist(), dense, words, self._doc_ids(ranked.rows), feedback)]


def document_numbers(segment: int, rows: _Rows) -> _Rows:
    """Returns the numbers of documents in `NearVectors`, which are unique among all versions of an index."""
    return segment * MAX_DOCUMENTS + rows


def open_segments(folder: str, records: Iterable[SegmentRecord]) -> list[Segment]:
    """Opens the segments of a version of an index, without the removed documents.

    Args:
      folder: the folder of the version.
      records: the segments' records in its manifest.

    Raises:
      OSError: a file is missing.
      ValueError: a file does not match its record.
    """
    return [
        Segment(os.path.join(folder, SEGMENTS, str(record.number)), record, removed_rows(folder, record))
        for record in records
    ]


def _matching(words: _Scores, limit: int) -> _Rows:
    """Returns the rows of the best scores above 0, and of all scores equal to the last of them, sorted."""
    rows = best_rows(words, limit)
    matches: _Rows = rows[words[rows] > 0]
    return matches
