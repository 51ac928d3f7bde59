"""An inverted index, for the inner products of a query's weighted terms with those of every document."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.texts.term_matrix import TermMatrix

TERMS_FILE: Final = "terms.txt"
_STARTS_FILE: Final = "postings_starts.npy"
_DOCUMENTS_FILE: Final = "postings_documents.npy"
_WEIGHTS_FILE: Final = "postings_weights.npy"
_FREQUENT_FILE: Final = "frequent_terms.npy"
_COLUMNS_FILE: Final = "frequent_weights.npy"

_FREQUENT_SHARE: Final = 0.25
"""The share of the documents beyond which a term counts as frequent, and stores a weight for every document: at most
twice the bytes of its postings, and ten times as fast to add up."""


class InvertedIndex:
    """Computes the exact inner products of a query's terms with those of every document.

    Skips no posting: adding up all postings of a query takes less time than finding those to skip.

    Args:
      terms: the distinct terms in the order of the columns.
      postings: the weights of the rare terms, column by column; a frequent term's column is empty.
      frequent: the columns of the frequent terms, in order: int32 [frequent terms].
      weights: the weights of the frequent terms, float32 [frequent terms, documents].
    """

    def __init__(
        self,
        terms: Sequence[bytes],
        postings: "_Postings",
        frequent: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float32],
    ) -> None:
        self.terms = terms
        self._column = {term: column for column, term in enumerate(terms)}
        self._postings = postings
        self._row = dict(zip(frequent.tolist(), range(len(frequent)), strict=True))
        self._weights = weights

    @classmethod
    def of(cls, documents: TermMatrix) -> "InvertedIndex":
        """Indexes documents, by terms sorted by their UTF-8."""
        terms = sorted(documents.columns)
        by_column = documents.rows().tocsc()
        counts = np.diff(by_column.indptr)[[documents.columns[term] for term in terms]]
        frequent = np.flatnonzero(counts > _FREQUENT_SHARE * max(by_column.shape[0], 1)).astype(np.int32)
        order = np.array([documents.columns[term] for term in terms], np.int64)
        weights = by_column[:, order[frequent]].T.toarray()
        rare = counts.copy()
        rare[frequent] = 0
        starts = np.concatenate([[0], np.cumsum(rare)])
        # Copies the columns of the rare terms, in the new order.
        source = np.repeat(by_column.indptr[:-1][order] - starts[:-1], rare) + np.arange(starts[-1])
        # A segment's documents have numbers of two bytes.
        documents_of = by_column.indices.astype(np.min_scalar_type(max(by_column.shape[0] - 1, 0)))[source]
        return cls(terms, _Postings(starts, documents_of, by_column.data[source]), frequent, weights)

    def scores(self, terms: npt.NDArray[np.object_], weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Returns the inner product of each document's terms and a query's.

        Args:
          terms, weights: the query's distinct terms and their weights, [width]; the terms may be padded by "".

        Returns:
          float32 [documents].
        """
        known_rows = [row for row, term in enumerate(terms) if term in self._column]
        columns = [self._column[term] for term in terms[known_rows]]
        rare_rows = [row for row, column in enumerate(columns) if column not in self._row]
        chosen = self._postings.matrix(self._weights.shape[1], [columns[row] for row in rare_rows])
        scores: npt.NDArray[np.float32] = chosen @ weights[known_rows][rare_rows].astype(np.float32)
        for column, weight in zip(columns, weights[known_rows], strict=True):
            if column in self._row:
                scores += weight * self._weights[self._row[column]]
        return scores

    def columns_of(self, terms: Iterable[bytes]) -> list[int]:
        """Returns the column of each term; -1 for an unknown term."""
        return [self._column.get(term, -1) for term in terms]

    def entries(self) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
        """Yields the columns, documents and weights of all postings, [postings] each: rare terms, then frequent."""
        rare = np.repeat(np.arange(len(self._column)), np.diff(self._postings.starts))
        yield rare, self._postings.documents.astype(np.int64), self._postings.weights
        rows, documents = np.nonzero(self._weights)
        yield np.array(list(self._row), np.int64)[rows], documents, self._weights[rows, documents]

    @property
    def postings(self) -> int:
        """The number of weights that are not 0."""
        return int(np.count_nonzero(self._postings.weights) + np.count_nonzero(self._weights))

    def rows(self) -> tuple[Sequence[bytes], sparse.csr_matrix]:
        """Returns the terms, and the documents' weights: float32 [documents, terms]."""
        frequent = sparse.csr_matrix(
            (np.ones(len(self._row), np.float32), (list(self._row), list(self._row.values()))),
            shape=(len(self._column), len(self._row)),
        )
        starts, documents, weights = self._postings
        shape = self._weights.shape[1], len(self._column)
        rare = sparse.csc_matrix((weights, documents.astype(np.int32), starts), shape=shape)
        rows = rare.tocsr() + (frequent @ sparse.csr_matrix(self._weights)).T.tocsr()
        return self.terms, rows

    @classmethod
    def load(cls, folder: str) -> "InvertedIndex":
        """Maps the files from `save` into memory; only the terms are read."""
        with open(os.path.join(folder, TERMS_FILE), "rb") as file:
            terms = file.read().splitlines()

        def mapped(name: str) -> npt.NDArray[Any]:
            # A plain array, because slicing NumPy's memmap takes ten times as long.
            return np.asarray(np.load(os.path.join(folder, name), mmap_mode="r"))

        postings = _Postings(mapped(_STARTS_FILE), mapped(_DOCUMENTS_FILE), mapped(_WEIGHTS_FILE))
        return cls(terms, postings, mapped(_FREQUENT_FILE), mapped(_COLUMNS_FILE))

    def save(self, folder: str) -> None:
        """Writes the index into a folder, in files that `load` maps."""
        with open(os.path.join(folder, TERMS_FILE), "wb") as file:
            file.writelines(term + b"\n" for term in self._column)
        for name, array in (
            (_STARTS_FILE, self._postings.starts),
            (_DOCUMENTS_FILE, self._postings.documents),
            (_WEIGHTS_FILE, self._postings.weights),
            (_FREQUENT_FILE, np.array(list(self._row), np.int32)),
            (_COLUMNS_FILE, self._weights),
        ):
            np.save(os.path.join(folder, name), array)


class _Postings(NamedTuple):
    """The postings of terms, column by column."""

    starts: npt.NDArray[np.int64]
    """The first posting of each column, and the end: int [terms + 1]."""
    documents: npt.NDArray[Any]
    """The document of each posting: unsigned [postings], as narrow as the documents allow."""
    weights: npt.NDArray[np.float32]
    """float32 [postings]."""

    def matrix(self, documents: int, columns: Sequence[int]) -> sparse.csc_matrix:
        """Returns the weights of some columns: float32 [documents, columns]."""
        ranges = [slice(*self.starts[column : column + 2].tolist()) for column in columns]
        ends = np.cumsum([0, *(part.stop - part.start for part in ranges)])
        rows = np.concatenate([np.zeros(0, np.int32), *(self.documents[part] for part in ranges)], dtype=np.int32)
        weights = np.concatenate([np.zeros(0, np.float32), *(self.weights[part] for part in ranges)])
        return sparse.csc_matrix((weights, rows, ends), shape=(documents, len(columns)))
