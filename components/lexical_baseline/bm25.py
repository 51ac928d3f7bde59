"""BM25 (Robertson and Zaragoza 2009) over the model's own tokens, without translation."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import tensorflow as tf

from models.text_lists import TextList
from models.tokens import tokenize

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
      documents: tokens of every document of the collection.
    """

    def __init__(self, queries: Iterable[Sequence[bytes]], documents: Iterable[Sequence[bytes]]) -> None:
        words = frozenset(word for query in queries for word in query)
        frequency: Counter[bytes] = Counter()
        count = length = 0
        for document in documents:
            count += 1
            length += len(document)
            frequency.update(words.intersection(document))
        self._mean_length = length / max(count, 1)
        self._idf = {word: math.log(1 + (count - frequency[word] + 0.5) / (frequency[word] + 0.5)) for word in words}

    def score(self, query: Sequence[bytes], document: Sequence[bytes]) -> float:
        """The score of a document's tokens for a query's; 0 where they share no word."""
        shared = set(query).intersection(document)
        if not shared:
            return 0.0
        counts = Counter(document)
        norm = K1 * (1 - B + B * len(document) / self._mean_length)
        # Sorted, because a sum of floats depends on its order and that of a set is another in every process.
        return sum(self._idf[word] * counts[word] * (K1 + 1) / (counts[word] + norm) for word in sorted(shared))


def token_lists(texts: Iterable[bytes | str], max_tokens: int) -> Iterator[list[bytes]]:
    """The model's tokens of every text, batch by batch."""
    remaining = iter(texts)
    while batch := list(islice(remaining, _BATCH)):
        tokens: list[list[bytes]] = tokenize(tf.constant(batch), max_tokens).to_list()
        yield from tokens


def score_text_lists(
    lists: Sequence[TextList], collection: Iterable[bytes | str], max_tokens: int
) -> Iterator[list[float]]:
    """BM25 of every document of every list, with the statistics of the whole collection.

    Args:
      lists: query lists.
      collection: the text of every document there is.
      max_tokens: the model's limit on a text.
    """
    queries = list(token_lists((text_list.query_text for text_list in lists), max_tokens))
    texts = {text: place for place, text in enumerate({text for one in lists for text in one.doc_texts})}
    documents = list(token_lists(texts, max_tokens))
    bm25 = Bm25(queries, token_lists(collection, max_tokens))
    for query, text_list in zip(queries, lists, strict=True):
        yield [bm25.score(query, documents[texts[text]]) for text in text_list.doc_texts]
