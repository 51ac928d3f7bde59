"""BM25 (Robertson and Zaragoza 2009) over the model's own tokens, without translation."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.lexicon.term_weight import K1, length_norm
from models.lists.ranking import best_rows, rank
from models.lists.ranking_lists import RankingLists
from models.texts.term_matrix import TermMatrix
from models.texts.tokens import ALL_WORDS
from models.texts.word_counts import DistinctWords, batches, distinct_words, text_batches
from schemas import features as f
from schemas.collection import RawText, each_shard
from schemas.word_rules import WordRules
from smooth_clir.retrieval.inverted_index import InvertedIndex

_AT_ONCE: Final = 1 << 16
"""The number of documents whose words are held in memory."""
_BATCH: Final = 4096


class Bm25:
    """Scores documents for queries.

        score(q, d) = sum over the words w of q of idf(w) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * |d| / mean |d|))
        idf(w) = ln(1 + (N - df + 1/2) / (df + 1/2))

    tf is the count of w in d, df the number of documents with w, N the number of all documents. A query is a set of
    words.

    Args:
      queries: the tokens of all queries; only their words are counted in the collection.
      collection: the text of every document of the collection; `DocumentTexts` are counted shard by shard.
      rules: what words are, and how many of a text count.

    Attributes:
      words: the distinct words of the queries.
      documents: the number of documents in the collection.
    """

    def __init__(
        self, queries: Iterable[Sequence[bytes]], collection: Iterable[RawText], rules: WordRules = ALL_WORDS
    ) -> None:
        self.words = sorted({word for query in queries for word in query})
        self._word_columns = {word: column for column, word in enumerate(self.words)}
        self._rules = rules
        parts = list(each_shard(collection, partial(_statistics, self._word_columns, rules)))
        self.documents = sum(part.documents for part in parts)
        frequency = sum((part.frequency for part in parts), np.zeros(len(self.words), np.int64)).tolist()
        self._mean_length = sum(part.length for part in parts) / max(self.documents, 1)
        # Not NumPy's logarithm, whose last bit differs between processors.
        idf = (math.log(1 + (self.documents - documents + 0.5) / (documents + 0.5)) for documents in frequency)
        self._idf = np.fromiter(idf, np.float64)

    def term_weights(self, documents: Sequence[RawText]) -> sparse.csr_matrix:
        """Returns the score that each word of a query adds to each document: float64 [documents, words]."""
        distinct = distinct_words(documents, self._rules)
        weights = _counts(distinct, self._word_columns)  # tf
        norms = np.repeat(length_norm(distinct.lengths, self._mean_length), np.diff(weights.indptr))
        weights.data = self._idf[weights.indices] * weights.data * (K1 + 1) / (weights.data + norms)
        return weights

    def scores(self, query: Iterable[bytes], weights: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        """Returns the scores of documents for a query.

        Args:
          query: tokens, all of them among the words.
          weights: the documents' weights, see `term_weights`.

        Returns:
          float64 [documents], 0 for a document that shares no word with the query.
        """
        is_in_query = np.zeros(len(self.words))
        is_in_query[[self._word_columns[word] for word in query]] = 1
        scores: npt.NDArray[np.float64] = weights @ is_in_query
        return scores


class _Statistics(NamedTuple):
    """The statistics of a part of a collection."""

    documents: int
    """The number of documents."""
    length: int
    """The number of tokens in all documents together."""
    frequency: npt.NDArray[np.int64]
    """The number of documents with each word: int64 [words]."""


def _statistics(word_columns: dict[bytes, int], rules: WordRules, texts: Iterable[RawText]) -> _Statistics:
    documents = length = 0
    frequency = np.zeros(len(word_columns), np.int64)
    for batch in text_batches(texts):
        distinct = distinct_words(batch, rules)
        documents += len(batch)
        length += len(distinct.indices)
        frequency += np.bincount(_counts(distinct, word_columns).indices, minlength=len(word_columns))
    return _Statistics(documents, length, frequency)


def _counts(distinct: DistinctWords, word_columns: dict[bytes, int]) -> sparse.csr_matrix:
    """Returns the count of each word in each text: int32 [texts, words]."""
    columns = np.fromiter((word_columns.get(word, -1) for word in distinct.words), np.int32)
    return distinct.counts(columns, len(word_columns))


def token_lists(texts: Iterable[RawText], rules: WordRules) -> Iterator[list[bytes]]:
    """Yields the model's tokens of every text."""
    for batch in text_batches(texts):
        distinct = distinct_words(batch, rules)
        tokens = [distinct.words[row] for row in distinct.indices.tolist()]
        yield from (tokens[start:end] for start, end in pairwise(distinct.row_splits.tolist()))


def score_by_bm25(lists: RankingLists, collection: Iterable[RawText], rules: WordRules) -> Iterator[list[float]]:
    """Yields the BM25 scores of each list's documents, with the statistics of the whole collection.

    Args:
      lists: query lists, as texts.
      collection: the text of every document of the collection.
      rules: what words are, and how many of a text count.
    """
    queries = list(token_lists(lists.query_columns[f.QUERY_TEXT].numpy().tolist(), rules))
    bm25 = Bm25(queries, collection, rules)
    documents = lists.document_columns[f.DOC_TEXT].numpy().tolist()
    weights = sparse.vstack([bm25.term_weights(batch) for batch in ([], *text_batches(documents))], format="csr")
    for query, rows in zip(queries, lists.documents.to_list(), strict=True):
        yield bm25.scores(query, weights[rows]).tolist()


class Ranked(NamedTuple):
    """Documents, best first."""

    doc_ids: npt.NDArray[np.object_]
    """The documents' ids, UTF-8 as bytes: [documents]."""
    scores: npt.NDArray[np.float32]
    """Their scores: [documents]."""


_NOTHING: Final = Ranked(np.zeros(0, object), np.zeros(0, np.float32))


def search_by_bm25(
    queries: Sequence[Sequence[bytes]],
    read_collection: Callable[[], Iterable[tuple[bytes, bytes]]],
    rules: WordRules,
    limit: int,
    on_progress: Callable[[int, int], None] = lambda scored, documents: None,
) -> list[Ranked]:
    """Returns the best documents of a collection for each query.

    Only documents that share a word with the query are found. Of equal scores the larger id comes first.

    Args:
      queries: the tokens of each query.
      read_collection: reads the id and text of every document; it is called twice, first for the statistics.
      rules: what words are, and how many of a text count.
      limit: the largest number of documents for a query.
      on_progress: called repeatedly with the number of documents scored so far, and of all.
    """
    bm25 = Bm25(queries, (text for _, text in read_collection()), rules)
    terms = [np.array(sorted({*query}), object) for query in queries]
    results = [_NOTHING] * len(queries)
    scored = 0
    for ids, index in _indexed_parts(bm25, read_collection()):
        for number, words in enumerate(terms):
            scores = index.scores(words, np.ones(len(words), np.float32))
            rows = best_rows(np.where(scores > 0, scores, -np.inf), limit)
            results[number] = _best(results[number], Ranked(ids[rows], scores[rows]), limit)
        scored += len(ids)
        on_progress(scored, bm25.documents)
    return results


def _indexed_parts(
    bm25: Bm25, collection: Iterable[tuple[bytes, bytes]]
) -> Iterator[tuple[npt.NDArray[np.object_], InvertedIndex]]:
    """Yields the ids of up to `_AT_ONCE` documents, and the index of their words' weights."""
    for part in batches(collection, _AT_ONCE):
        weights = TermMatrix()
        for batch in batches(part, _BATCH):
            weights.add_rows(bm25.words, bm25.term_weights([text for _, text in batch]).astype(np.float32))
        yield np.array([doc_id for doc_id, _ in part], object), InvertedIndex.of(weights)


def _best(first: Ranked, second: Ranked, limit: int) -> Ranked:
    ids, scores = np.concatenate([first.doc_ids, second.doc_ids]), np.concatenate([first.scores, second.scores])
    order = rank(scores, ids.tolist())[:limit]
    return Ranked(ids[order], scores[order])
