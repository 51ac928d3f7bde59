"""Learns a lexicon: translations from pairs of texts, and document frequencies from a collection."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial, reduce
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.lexicon.lexicon import CollectionRecord, Kind, Lexicon
from models.lexicon.model_1 import explained_shares, largest
from models.lexicon.terms import TermCounter
from models.texts.word_counts import batches, text_batches
from schemas.collection import RawText, each_shard
from schemas.languages import stem_languages
from schemas.word_rules import WordRules

Pair: TypeAlias = tuple[RawText, RawText] | tuple[RawText, RawText, float] | tuple[RawText, RawText, float, str]
"""A text in the query language, its equivalent in the documents' language, the pair's weight, above 0, by default 1,
and the name of the table that it belongs to, by default ""."""

_BATCH: Final = 4096
_BITS: Final = 32
_UNIT: Final = 2.0**_BITS


def learn_lexicon(
    kind: Kind,
    languages: tuple[str, str],
    rules: WordRules,
    pairs: Iterable[Pair],
    collection: Iterable[RawText],
) -> Lexicon:
    """Learns a lexicon.

    With A of `learn_translations` and T = max(A, identity), a collection has for each term q

        tf'(q, d) = sum over w of T[q, w] tf(w, d)
        df'(q) = sum over d of min(1, tf'(q, d))

    Each table of pairs has its own A; of several tables, T has the largest weight of each entry. So the translations of
    a word into several languages, each with a table, do not share the word's weight among them.

    Args:
      kind: the kind of lexicon; only `lexicon` learns translations, and the others have A = 0.
      languages: ISO 639-1 codes of queries and documents.
      rules: the rules for splitting texts into words.
      pairs: texts with the same meaning.
      collection: the text of every document; `DocumentTexts` are counted shard by shard.
    """
    languages = stem_languages(languages)
    counter = TermCounter(kind, rules)
    occurrences = Counter[bytes]()
    translations = sparse.csr_matrix((0, 0))
    if kind == "lexicon":
        translations = _translations(counter, languages, pairs, occurrences)
    # The transpose of T without its identity: what a document's term adds to tf' of other terms.
    added = (translations - sparse.diags(translations.diagonal())).T.tocsr()
    # The parts that a process counts share a counter, so that each word is stemmed once.
    count = partial(_count_terms, TermCounter(kind, rules, counter.terms), languages[1], added)
    documents = length = 0
    frequency = np.zeros((2, 0), np.int64)
    for part in each_shard(collection, count):
        documents += part.documents
        length += part.length
        numbers = counter.numbers(part.terms)
        frequency = _grown(frequency, len(counter.terms))
        frequency[:, numbers] += part.frequency
    # A vocabulary needs a term. The empty term never occurs in a text.
    terms = counter.terms or [b""]
    order = _order(terms)
    translations.resize((len(terms), len(terms)))
    record = CollectionRecord(
        kind=kind,
        query_language=languages[0],
        document_language=languages[1],
        rules=rules,
        documents=documents,
        mean_length=length / max(documents, 1),
    )
    return Lexicon(
        record,
        [terms[row] for row in order],
        _from_fixed(_grown(frequency, len(terms)))[order],
        translations[order][:, order],
        counter.commonest_words(languages[1], occurrences),
    )


# Translations


def _translations(
    counter: TermCounter, languages: tuple[str, str], pairs: Iterable[Pair], occurrences: Counter[bytes]
) -> sparse.csr_matrix:
    """Learns A for all terms so far, float64 [terms, terms]; counts a text in several pairs only once.

    Adds to the occurrences of words in documents.
    """
    texts = [_DistinctTexts(counter, languages[0]), _DistinctTexts(counter, languages[1], occurrences)]
    pair_rows: list[list[int]] = [[], []]
    weights: list[float] = []
    table_of_pair: list[int] = []
    number_of_table: dict[str, int] = {}
    for batch in batches(pairs, _BATCH):
        sides = [pair[0] for pair in batch], [pair[1] for pair in batch]
        for side, side_texts, side_rows in zip(texts, sides, pair_rows, strict=True):
            side_rows.extend(side.add(side_texts))
        weights.extend(pair[2] if len(pair) > 2 else 1.0 for pair in batch)
        names = (pair[3] if len(pair) > 3 else "" for pair in batch)
        table_of_pair.extend(number_of_table.setdefault(name, len(number_of_table)) for name in names)
    size = len(counter.terms)
    if not weights:
        return sparse.csr_matrix((size, size))
    # Among equal shares the first terms are kept; the terms are sorted, because the order of pairs must not decide.
    order = _order(counter.terms)
    back = np.argsort(order)
    queries, documents = (side.counts(size)[:, order] for side in texts)
    shape = queries.shape[0], documents.shape[0]
    all_weights, all_rows, numbers = np.array(weights), np.array(pair_rows), np.array(table_of_pair)
    tables = []
    for number in number_of_table.values():
        entries = all_weights[numbers == number], all_rows[:, numbers == number]
        tables.append(learn_translations(queries, documents, sparse.csr_matrix(entries, shape=shape)))
    return reduce(sparse.csr_matrix.maximum, tables)[back][:, back]


class _DistinctTexts:
    """The terms of the distinct queries or documents; `counter` counts the terms of both."""

    def __init__(self, counter: TermCounter, language: str, occurrences: Counter[bytes] | None = None) -> None:
        self._counter, self._language, self._occurrences = counter, language, occurrences
        self._row: dict[bytes, int] = {}
        self._counts: list[sparse.csr_matrix] = []

    def add(self, texts: Sequence[RawText]) -> list[int]:
        """Returns the rows of texts, [texts]; counts the terms of new texts."""
        rows, new = [], []
        for text in texts:
            key = hashlib.blake2b(text.encode() if isinstance(text, str) else text, digest_size=16).digest()
            if key not in self._row:
                self._row[key] = len(self._row)
                new.append(text)
            rows.append(self._row[key])
        self._counts.append(self._counter.count(new, self._language, self._occurrences))
        return rows

    def counts(self, terms: int) -> sparse.csr_matrix:
        """The number of occurrences of each term in each text, int32 [texts, terms]."""
        for part in self._counts:
            part.resize((part.shape[0], terms))
        return sparse.vstack(self._counts, format="csr")


def _order(terms: Sequence[bytes]) -> list[int]:
    """The indices of terms, in the order of their UTF-8."""
    return sorted(range(len(terms)), key=terms.__getitem__)


# Statistics of the collection


class _TermCounts(NamedTuple):
    """The statistics of a part of a collection."""

    documents: int
    """The number of documents."""
    length: int
    """The number of terms in all documents together."""
    terms: Sequence[bytes]
    """The terms that are counted."""
    frequency: npt.NDArray[np.int64]
    """The sum of min(1, tf') over the documents for each term, in fixed point (see `_from_fixed`): int64 [2, terms]."""


def _count_terms(
    counter: TermCounter, language: str, added: sparse.csr_matrix, texts: Iterable[RawText]
) -> _TermCounts:
    """Counts the terms of a part of a collection.

    Sums are in fixed point, so that they do not depend on the division into parts, as sums of floats would. A result
    may hold terms of earlier parts, with a frequency of 0.
    """
    learned = added.shape[0]
    frequency = np.zeros((2, learned), np.int64)
    documents = length = 0
    for batch in text_batches(texts):
        counts = counter.count(batch, language).astype(np.float64)  # tf: [batch, terms]
        documents += len(batch)
        length += int(counts.sum())
        translated = counts[:, :learned] @ added
        translated.resize(counts.shape)
        frequency = _grown(frequency, counts.shape[1]) + _capped_sums(counts + translated)
    terms = counter.terms
    return _TermCounts(documents, length, terms, _grown(frequency, len(terms)))


def _capped_sums(frequency: sparse.csr_matrix) -> npt.NDArray[np.int64]:
    """The sum of min(1, tf') over documents, in fixed point: tf' [documents, terms] -> int64 [2, terms]."""
    sums = np.zeros((2, frequency.shape[1]), np.int64)
    is_part = frequency.data < 1
    sums[0] = np.bincount(frequency.indices[~is_part], minlength=frequency.shape[1]) << _BITS
    for row, part in zip(sums, _fixed(frequency.data[is_part]), strict=True):
        # NumPy counts in float64, in which sums of whole numbers below 2^53 are exact.
        row += np.bincount(frequency.indices[is_part], part, frequency.shape[1]).astype(np.int64)
    return sums


def _fixed(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Converts values in 0 .. 1 to fixed point: multiples of 2^-32, and the rest in multiples of 2^-64."""
    whole = np.floor(values * _UNIT)
    return whole, np.rint((values * _UNIT - whole) * _UNIT)


def _from_fixed(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Sums of fixed-point numbers as floats: int64 [2, terms] -> float64 [terms]; exact up to 2^31 documents.

    Example:
      >>> _from_fixed(np.array([[3 << 31], [1 << 32]])).tolist()  # 3/2 + 2^-32
      [1.5000000002328306]
    """
    floats: npt.NDArray[np.float64] = sums[0] / _UNIT + sums[1] / _UNIT**2
    return floats


def _grown(values: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Appends zeros: [2, some] -> [2, size]."""
    return np.pad(values, ((0, 0), (0, size - values.shape[1])))


MIN_SHARE: Final = 0.005
MAX_TRANSLATIONS: Final = 50

_ITERATIONS: Final = 5
_BACKWARD_POWER: Final = 0.4
_MIN_DIRECTION_SHARE: Final = 0.001
_MAX_DIRECTION_TRANSLATIONS: Final = 200


def learn_translations(
    queries: sparse.csr_matrix, documents: sparse.csr_matrix, pairs: sparse.csr_matrix
) -> sparse.csr_matrix:
    """Learns how well each document stem translates each query stem.

    F[q, w] is the share of the query stem q that the document stem w explains, and B[w, q] the share of w that q
    explains (see `explained_shares`).

        A[q, w] = m(q) F[q, w]^0.6 B[w, q]^0.4 / (the sum of this product over w'),   m(q) = sum over w of F[q, w]

    A translation must explain in both directions; the sum of q's translations is the explained share of q. F and B keep
    shares of at least 0.001, at most 200 per stem; A keeps shares of at least 0.005, at most 50 per query stem.

    Args:
      queries: the number of occurrences of each stem in each query, int [queries, query stems].
      documents: the number of occurrences of each stem in each document, int [documents, document stems].
      pairs: the weight of the pairs of each query and document, float [queries, documents].

    Returns:
      A, float64 [query stems, document stems].
    """
    forward, backward = (
        explained_shares(
            (side_pairs @ targets.astype(bool).astype(np.float64)).T.tocsr(),
            sources,
            _ITERATIONS,
            _MIN_DIRECTION_SHARE,
            _MAX_DIRECTION_TRANSLATIONS,
        )
        for targets, sources, side_pairs in ((queries, documents, pairs.T), (documents, queries, pairs))
    )
    joined = forward.power(1 - _BACKWARD_POWER).multiply(backward.T.tocsr().power(_BACKWARD_POWER)).tocoo()
    mass, sums = (np.asarray(table.sum(axis=1))[:, 0] for table in (forward, joined))
    shares = joined.data * mass[joined.row] / sums[joined.row]
    return largest(joined.row, joined.col, shares, joined.shape, MIN_SHARE, MAX_TRANSLATIONS)
