"""BM25 (Robertson and Zaragoza 2009) over the model's own tokens, without translation."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import tensorflow as tf

from models.graph_function import graph_function
from models.lists import RankingLists
from models.tokens import tokenize
from schemas import features as f

K1 = 1.2
B = 0.75

_BATCH = 4096


class Bm25:
    """Scores documents for queries.

        score(q, d) = sum over the words w of q of idf(w) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * |d| / mean |d|))
        idf(w) = ln(1 + (N - df + 1/2) / (df + 1/2))

    with tf the count of w in d, df the number of documents with w, N that of all documents. A query is a set of words.

    Args:
      queries: tokens of the queries that will be asked; only their words are counted in the collection.
      collection: the text of every document of the collection.
      max_tokens: the model's limit on a text.
    """

    def __init__(
        self, queries: Iterable[Sequence[bytes]], collection: Iterable[bytes | str], max_tokens: int | None = None
    ) -> None:
        # No text holds the empty word: it stands for none, for TensorFlow makes no empty table.
        words = sorted({word for query in queries for word in query}) or [b""]
        count, length, frequency = _count(words, collection, max_tokens)
        self._mean_length = length / max(count, 1)
        self._idf = {
            word: math.log(1 + (count - documents + 0.5) / (documents + 0.5))
            for word, documents in zip(words, frequency, strict=True)
        }

    def score(self, query: Sequence[bytes], document: Sequence[bytes]) -> float:
        """The score of a document's tokens for a query's; 0 where they share no word."""
        shared = set(query).intersection(document)
        if not shared:
            return 0.0
        counts = Counter(document)
        norm = K1 * (1 - B + B * len(document) / self._mean_length)
        # Sorted, because a sum of floats depends on its order and that of a set is another in every process.
        return sum(self._idf[word] * counts[word] * (K1 + 1) / (counts[word] + norm) for word in sorted(shared))


def _count(
    words: Sequence[bytes], collection: Iterable[bytes | str], max_tokens: int | None
) -> tuple[int, int, list[int]]:
    """Documents, tokens of all documents, and for each word the number of documents that hold it."""
    place = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant(words, tf.string), tf.range(len(words), dtype=tf.int64)), -1
    )

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def count(texts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        tokens = tokenize(texts, max_tokens)
        places = place.lookup(tokens.flat_values)
        known = tf.where(places >= 0)[:, 0]
        # A word's key in a document; each counts once.
        keys = tf.gather(tokens.value_rowids(), known) * len(words) + tf.gather(places, known)
        distinct, _ = tf.unique(keys)
        found = tf.math.floormod(distinct, len(words))
        return tf.size(places, tf.int64), tf.math.bincount(tf.cast(found, tf.int32), minlength=len(words))

    documents = length = 0
    frequency = np.zeros(len(words), np.int64)
    for batch in _batches(collection):
        tokens, found = count(tf.constant(batch))
        documents += len(batch)
        length += int(tokens)
        frequency += found.numpy()
    return documents, length, frequency.tolist()


def _batches(texts: Iterable[bytes | str]) -> Iterator[list[bytes | str]]:
    remaining = iter(texts)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def token_lists(texts: Iterable[bytes | str], max_tokens: int) -> Iterator[list[bytes]]:
    """The model's tokens of every text, batch by batch."""
    for batch in _batches(texts):
        tokens: list[list[bytes]] = tokenize(tf.constant(batch), max_tokens).to_list()
        yield from tokens


def score_by_bm25(lists: RankingLists, collection: Iterable[bytes | str], max_tokens: int) -> Iterator[list[float]]:
    """BM25 of every document of every list, with the statistics of the whole collection.

    Args:
      lists: query lists, as texts.
      collection: the text of every document there is.
      max_tokens: the model's limit on a text.
    """
    queries, documents = (
        list(token_lists(texts.numpy().tolist(), max_tokens))
        for texts in (lists.query_columns[f.QUERY_TEXT], lists.document_columns[f.DOC_TEXT])
    )
    bm25 = Bm25(queries, collection, max_tokens)
    for query, rows in zip(queries, lists.documents.to_list(), strict=True):
        yield [bm25.score(query, documents[row]) for row in rows]
