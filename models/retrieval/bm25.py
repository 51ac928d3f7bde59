"""BM25 (Robertson and Zaragoza 2009) over the model's own tokens, without translation."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.lists.ranking_lists import RankingLists
from models.retrieval.corpus_index import best_places
from models.retrieval.inverted_index import InvertedIndex, TermMatrix
from models.retrieval.ranking import rank
from models.texts.word_counts import WordCounter, batches, distinct_words, text_batches
from schemas import features as f
from schemas.collection import each_shard

K1 = 1.2
B = 0.75


class Bm25:
    """Scores documents for queries.

        score(q, d) = sum over the words w of q of idf(w) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * |d| / mean |d|))
        idf(w) = ln(1 + (N - df + 1/2) / (df + 1/2))

    with tf the count of w in d, df the number of documents with w, N that of all documents. A query is a set of words.

    Args:
      queries: tokens of the queries that will be asked; only their words are counted in the collection.
      collection: the text of every document of the collection; `DocumentTexts` are counted shard by shard.
      max_tokens: the model's limit on a text.

    Attributes:
      words: of the queries, each once.
      documents: of the collection.
    """

    def __init__(
        self, queries: Iterable[Sequence[bytes]], collection: Iterable[bytes | str], max_tokens: int | None = None
    ) -> None:
        self.words = sorted({word for query in queries for word in query})
        self._counter = WordCounter(self.words, max_tokens)
        parts = list(each_shard(collection, partial(_count, self.words, max_tokens)))
        self.documents = sum(part.documents for part in parts)
        frequency = sum((part.frequency for part in parts), np.zeros(len(self.words), np.int64)).tolist()
        self._mean_length = sum(part.length for part in parts) / max(self.documents, 1)
        # Not NumPy's logarithm, whose last bit is another on another processor.
        idf = (math.log(1 + (self.documents - documents + 0.5) / (documents + 0.5)) for documents in frequency)
        self._idf = np.fromiter(idf, np.float64)

    def term_weights(self, documents: Sequence[bytes | str]) -> sparse.csr_matrix:
        """What each of the words adds to the score of each of some texts, if a query has it.

        Returns:
          float64 [documents, words].
        """
        found = self._counter(documents)
        norms = K1 * (1 - B + B * found.lengths / (self._mean_length or 1))
        weights = self._idf[found.words] * found.counts * (K1 + 1) / (found.counts + norms[found.texts])
        shape = (len(documents), len(self.words))
        return sparse.csr_matrix((weights, (found.texts, found.words)), shape=shape)

    def scores(self, query: Iterable[bytes], weights: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        """The scores of documents for a query.

        Args:
          query: tokens, all of them among the words.
          weights: of the documents, see `term_weights`.

        Returns:
          float64 [documents], 0 where a document shares no word with the query.
        """
        is_asked = np.zeros(len(self.words))
        is_asked[[self._counter.place[word] for word in query]] = 1
        scores: npt.NDArray[np.float64] = weights @ is_asked
        return scores


class _WordStatistics(NamedTuple):
    """Of texts: their number, their tokens, and for each word the number of texts that hold it."""

    documents: int
    length: int
    frequency: npt.NDArray[np.int64]


def _count(words: Sequence[bytes], max_tokens: int | None, texts: Iterable[bytes | str]) -> _WordStatistics:
    counter = WordCounter(words, max_tokens)
    documents = length = 0
    frequency = np.zeros(len(words), np.int64)
    for batch in text_batches(texts):
        found = counter(batch)
        documents += len(batch)
        length += int(found.lengths.sum())
        frequency += np.bincount(found.words, minlength=len(words))
    return _WordStatistics(documents, length, frequency)


def token_lists(texts: Iterable[bytes | str], max_tokens: int) -> Iterator[list[bytes]]:
    """The model's tokens of every text, batch by batch."""
    for batch in text_batches(texts):
        found = distinct_words(batch, max_tokens)
        tokens = [found.words[place] for place in found.places.tolist()]
        yield from (tokens[start:end] for start, end in pairwise(found.row_splits.tolist()))


def score_by_bm25(lists: RankingLists, collection: Iterable[bytes | str], max_tokens: int) -> Iterator[list[float]]:
    """BM25 of every document of every list, with the statistics of the whole collection.

    Args:
      lists: query lists, as texts.
      collection: the text of every document there is.
      max_tokens: the model's limit on a text.
    """
    queries = list(token_lists(lists.query_columns[f.QUERY_TEXT].numpy().tolist(), max_tokens))
    bm25 = Bm25(queries, collection, max_tokens)
    documents = lists.document_columns[f.DOC_TEXT].numpy().tolist()
    weights = sparse.vstack([bm25.term_weights(batch) for batch in ([], *text_batches(documents))], format="csr")
    for query, rows in zip(queries, lists.documents.to_list(), strict=True):
        yield bm25.scores(query, weights[rows]).tolist()


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
    """The best documents of a collection for each query, by `models.retrieval.bm25.Bm25`.

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
