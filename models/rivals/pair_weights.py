"""Rankers with a weight for each pair of a query's and a document's term, in a full matrix or hashed into bins."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.rivals.term_lists import Candidate, Ranking, Scores, Split, TermLists
from schemas.errors import DataError

log = logging.getLogger("clir.progress")

RATES: Final = (1.0, 3.0, 10.0)
"""The learning rates that are tried."""
EPOCHS: Final = 6
"""The largest number of passes over the train lists."""
BINS: Final = (1_000_000, 3_000_000, 6_000_000)
"""The numbers of bins, h, of the paper's hash kernels."""

_MAX_BYTES: Final = 4 << 30
"""The largest matrix: the paper's 30,000 x 30,000 words take 3.4 GB."""
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd number near 2^64 divided by the golden ratio, which as a factor spreads neighbouring numbers."""

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float32]


def perceptron(texts: TermLists) -> Ranking:
    """The margin ranking perceptron: f(q, d) = q' W d with a weight for each pair of terms (Bai et al. 2009, eq. 1).

    W starts at 0, and within a language also at the identity. See `_train`.

    Raises:
      DataError: W is too large.
    """
    starts = [False, True] if texts.has_one_language else [False]

    def candidates() -> Iterator[Candidate]:
        for is_identity in starts:
            for rate in RATES:
                named = {"start": "identity" if is_identity else "zero"} if len(starts) > 1 else {}
                for epoch, weights in _train(texts, _Matrix.make(texts, is_identity), rate, "perceptron"):
                    yield Candidate({**named, "rate": rate, "epochs": epoch}, weights.scores)

    return texts.choose(candidates())


def hash_kernel(texts: TermLists) -> Ranking:
    """The perceptron with h weights, chosen by a hash of the two terms (Shi et al. 2009, "Hash Kernels").

    The learning rate is that which is best with the smallest h.
    """

    def candidates(bins: int, rates: tuple[float, ...]) -> Iterator[Candidate]:
        for rate in rates:
            for epoch, weights in _train(texts, _Bins(texts, bins), rate, "hash_kernel"):
                yield Candidate({"bins": bins, "rate": rate, "epochs": epoch}, weights.scores)

    best = texts.choose(candidates(BINS[0], RATES))
    rankings = [texts.choose(candidates(bins, (best.parameters["rate"],))) for bins in BINS[1:]]
    return max([best, *rankings], key=lambda ranking: ranking.eval_value)


def _train(texts: TermLists, weights: "_Weights", rate: float, name: str) -> Iterator[tuple[int, "_Weights"]]:
    """Minimises the margin ranking loss; yields the weights after each pass over the lists.

        loss = mean over the pairs (d+, d-) of a list with different grades of max(0, 1 - f(q, d+) + f(q, d-))

    A step takes the gradient of all pairs of a list; the paper's takes a random pair (eq. 5).
    """
    order = np.random.default_rng(texts.seed)
    lists = list(zip(texts.train.lists.grades, texts.train.listed, strict=True))
    for epoch in range(1, EPOCHS + 1):
        for row in order.permutation(len(lists)):
            grades, rows = lists[row]
            example = _Example.make(weights.queries[row], weights.documents[rows])
            scores = weights.document_scores(example)
            is_pair = grades[:, np.newaxis] > grades
            missed = is_pair & (scores[:, np.newaxis] - scores < 1)
            if missed.any():
                gain = (missed.sum(axis=1) - missed.sum(axis=0)) / is_pair.sum()
                weights.add(example, (rate * gain).astype(np.float32))
        log.info("%s: learning rate %g, pass %d/%d", name, rate, epoch, EPOCHS)
        yield epoch, weights


class _Example(NamedTuple):
    """A query and its documents."""

    query_terms: _Ints
    query: _Floats
    """The weight of each of the query's terms."""
    documents: sparse.csr_matrix

    @classmethod
    def make(cls, query: sparse.csr_matrix, documents: sparse.csr_matrix) -> "_Example":
        return cls(query.indices.astype(np.int64), query.data, documents)


class _Weights(ABC):
    """The weights of pairs of terms, in training.

    Attributes:
      queries, documents: tf-idf of the train split, of unit length: float32 [lists or documents, terms].
    """

    queries: sparse.csr_matrix
    documents: sparse.csr_matrix

    def __init__(self, texts: TermLists) -> None:
        self._texts = texts
        self.queries, self.documents = self._vectors(texts.train)

    def _vectors(self, split: Split) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """tf-idf of the queries and the documents of a split."""
        return (
            self._texts.unit_queries(split).astype(np.float32),
            self._texts.unit_documents(split).astype(np.float32),
        )

    @abstractmethod
    def document_scores(self, example: _Example) -> _Floats:
        """Returns f of each document: float32 [documents]."""

    @abstractmethod
    def add(self, example: _Example, gains: _Floats) -> None:
        """Adds the sum over the documents of gain * (query's terms) x (document's terms)."""

    def scores(self, split: Split) -> Scores:
        """Scores each document of each list."""
        queries, documents = self._vectors(split)
        return [
            self.document_scores(_Example.make(queries[row], documents[rows])) for row, rows in enumerate(split.listed)
        ]


class _Matrix(_Weights):
    """W as a dense matrix over the most frequent train terms of each side; other terms have no weight."""

    def __init__(self, texts: TermLists, query_terms: _Ints, document_terms: _Ints, is_identity: bool) -> None:
        self._query_terms, self._document_terms = query_terms, document_terms
        super().__init__(texts)
        self._weights: _Floats = np.zeros((len(query_terms), len(document_terms)), np.float32)
        if is_identity:
            _, rows, columns = np.intersect1d(query_terms, document_terms, return_indices=True)
            self._weights[rows, columns] = 1

    @classmethod
    def make(cls, texts: TermLists, is_identity: bool) -> "_Matrix":
        """Makes the matrix.

        Raises:
          DataError: the matrix would be too large.
        """
        train = texts.train
        sides = (train.queries, train.documents)
        query_terms, document_terms = (_frequent_terms(counts, texts.vocabulary_size) for counts in sides)
        size = 4 * len(query_terms) * len(document_terms)
        if size > _MAX_BYTES:
            raise DataError(
                f"the weights of the baseline perceptron must take at most {_MAX_BYTES >> 30} GiB; got "
                f"{size / (1 << 30):.1f} GiB for {len(query_terms):,} x {len(document_terms):,} terms. Lower "
                "data.vocabulary_size, or use the baseline hash_kernel."
            )
        return cls(texts, query_terms, document_terms, is_identity)

    def _vectors(self, split: Split) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        queries, documents = super()._vectors(split)
        return queries[:, self._query_terms], documents[:, self._document_terms]

    def document_scores(self, example: _Example) -> _Floats:
        """Returns q' W d of each document."""
        scores: _Floats = example.documents @ (example.query @ self._weights[example.query_terms])
        return scores

    def add(self, example: _Example, gains: _Floats) -> None:
        """Adds q (sum of gain * d)'."""
        self._weights[example.query_terms] += np.outer(example.query, example.documents.T @ gains)


class _Bins(_Weights):
    """W as h numbers; a hash of (i, j) chooses the number for the terms i and j."""

    def __init__(self, texts: TermLists, bins: int) -> None:
        super().__init__(texts)
        self._weights: _Floats = np.zeros(bins, np.float32)

    def _hashed_pairs(self, example: _Example) -> tuple[_Ints, _Floats]:
        """The bins, and the products of weights, of each term of the query and each entry of the documents."""
        entries = example.documents.indices.astype(np.uint64)
        mixed = (example.query_terms.astype(np.uint64)[:, np.newaxis] * _ODD) ^ entries
        hashed = (mixed * _ODD) >> np.uint64(20)
        return (hashed % np.uint64(len(self._weights))).astype(np.int64), np.outer(
            example.query, example.documents.data
        )

    def document_scores(self, example: _Example) -> _Floats:
        """Returns each document's sum of weight * product over the pairs of terms."""
        bins, products = self._hashed_pairs(example)
        entry_scores = (self._weights[bins] * products).sum(axis=0)
        summed = sparse.csr_matrix(
            (entry_scores, example.documents.indices, example.documents.indptr), example.documents.shape
        )
        return np.asarray(summed.sum(axis=1), np.float32)[:, 0]

    def add(self, example: _Example, gains: _Floats) -> None:
        """Adds gain * product to the bin of each pair of terms."""
        bins, products = self._hashed_pairs(example)
        entry_gains = np.repeat(gains, np.diff(example.documents.indptr))
        np.add.at(self._weights, bins, products * entry_gains)


def _frequent_terms(counts: sparse.csr_matrix, limit: int) -> _Ints:
    """The most frequent terms of texts, in the order of their numbers: int64 [at most `limit`]."""
    totals = np.asarray(counts.sum(axis=0))[0]
    ordered = np.argsort(-totals, kind="stable")[:limit]
    terms: _Ints = np.sort(ordered[totals[ordered] > 0])
    return terms
