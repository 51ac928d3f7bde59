"""Counts in how many documents of a part of a collection each term is found, itself or by its translations."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.lexicon.lexicon import CollectionRecord, Kind, Lexicon
from models.lexicon.model_1 import learn_translations
from models.lexicon.terms import TermCounter
from models.texts.word_counts import batches, text_batches
from schemas.collection import RawText as Text
from schemas.collection import each_shard

_BITS: Final = 32
_ONE: Final = 2.0**_BITS


class TermCounts(NamedTuple):
    """What the statistics of a collection are summed of."""

    documents: int
    length: int
    """Terms of all documents."""
    terms: Sequence[bytes]
    frequency: npt.NDArray[np.int64]
    """Of each term the sum over the documents of min(1, tf'), in fixed point (see `from_fixed`): int64 [2, terms]."""


class CountTerms:
    """texts -> `TermCounts`, whose terms may be some of texts before, with a frequency of 0.

    Sums are in fixed point, so that they do not depend on how a collection is cut into parts: floats would be rounded
    another way with every cut.

    Args:
      kind, language, max_tokens: see `learn_lexicon`.
      terms: those with translations, and any others.
      added: float64 [terms, terms]: what a document's term adds to tf' of others.
    """

    def __init__(
        self, kind: Kind, language: str, max_tokens: int, terms: Sequence[bytes], added: sparse.csr_matrix
    ) -> None:
        # One for all parts that are counted in one process: the stem of a word is found once.
        self._counter = TermCounter(kind, max_tokens, terms)
        self._language, self._added = language, added

    def __call__(self, texts: Iterable[Text]) -> TermCounts:
        """The counts of some documents."""
        learned = self._added.shape[0]
        frequency = np.zeros((2, learned), np.int64)
        documents = length = 0
        for batch in text_batches(texts):
            counts = self._counter.count(batch, self._language).astype(np.float64)
            documents += len(batch)
            length += int(counts.sum())
            translated = counts[:, :learned] @ self._added
            translated.resize(counts.shape)
            found = counts + translated
            frequency = grown(frequency, counts.shape[1]) + _sums_of_least(found)
        terms = self._counter.terms
        return TermCounts(documents, length, terms, grown(frequency, len(terms)))


def _sums_of_least(found: sparse.csr_matrix) -> npt.NDArray[np.int64]:
    """The sum of min(1, tf') over documents, in fixed point: tf' [documents, terms] -> int64 [2, terms]."""
    sums = np.zeros((2, found.shape[1]), np.int64)
    is_part = found.data < 1
    sums[0] = np.bincount(found.indices[~is_part], minlength=found.shape[1]) << _BITS
    for row, part in zip(sums, _fixed(found.data[is_part]), strict=True):
        # Sums of whole numbers below 2^53 are exact in float64, in which NumPy counts.
        row += np.bincount(found.indices[is_part], part, found.shape[1]).astype(np.int64)
    return sums


def _fixed(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Values in 0 .. 1 as whole numbers of 2^-32, and of 2^-64 for the rest."""
    whole = np.floor(values * _ONE)
    return whole, np.rint((values * _ONE - whole) * _ONE)


def from_fixed(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Sums in fixed point as floats.

    Args:
      sums: int64 [2, terms], of whole numbers of 2^-32 and of 2^-64; exact up to 2^31 documents.

    Returns:
      float64 [terms].

    Example:
      >>> from_fixed(np.array([[3 << 31], [1 << 32]])).tolist()  # 3/2 + 2^-32
      [1.5000000002328306]
    """
    floats: npt.NDArray[np.float64] = sums[0] / _ONE + sums[1] / _ONE**2
    return floats


def grown(values: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """[2, some] as [2, size], with zeros at the end."""
    return np.pad(values, ((0, 0), (0, size - values.shape[1])))


_BATCH = 4096


def learn_lexicon(
    kind: Kind,
    languages: tuple[str, str],
    max_tokens: int,
    pairs: Iterable[tuple[Text, Text]],
    collection: Iterable[Text],
) -> Lexicon:
    """Learns a lexicon.

    With A of `models.lexicon.model_1` and T = max(A, identity), a collection has for each term q

        tf'(q, d) = sum over w of T[q, w] tf(w, d)
        df'(q) = sum over d of min(1, tf'(q, d))

    Args:
      kind: only `lexicon` has translations, and of the others A is 0.
      languages: ISO 639-1 codes of queries and documents.
      max_tokens: words of a text that count.
      pairs: texts of queries and of documents that say the same.
      collection: the text of every document; `DocumentTexts` are counted shard by shard.
    """
    counter = TermCounter(kind, max_tokens)
    translations = _translations(counter, languages, pairs) if kind == "lexicon" else sparse.csr_matrix((0, 0))
    # What a term of a document adds to tf' of other terms.
    added = (translations - sparse.diags(translations.diagonal())).T.tocsr()
    count = CountTerms(kind, languages[1], max_tokens, counter.terms, added)
    documents = length = 0
    frequency = np.zeros((2, 0), np.int64)
    for part in each_shard(collection, count):
        documents += part.documents
        length += part.length
        numbers = counter.numbers(part.terms)
        frequency = grown(frequency, len(counter.terms))
        frequency[:, numbers] += part.frequency
    # No text holds the empty term: it stands for none, for a vocabulary has one.
    terms = counter.terms or [b""]
    order = _order(terms)
    translations.resize((len(terms), len(terms)))
    record = CollectionRecord(
        kind=kind,
        query_language=languages[0],
        document_language=languages[1],
        max_tokens=max_tokens,
        documents=documents,
        mean_length=length / max(documents, 1),
    )
    return Lexicon(
        record,
        [terms[place] for place in order],
        from_fixed(grown(frequency, len(terms)))[order],
        translations[order][:, order],
    )


def _translations(
    counter: TermCounter, languages: tuple[str, str], pairs: Iterable[tuple[Text, Text]]
) -> sparse.csr_matrix:
    """A, of the terms that have been met so far. A document that stands in several pairs is counted once."""
    row_of_document: dict[bytes, int] = {}
    queries, documents, rows = [], [], []
    for batch in batches(pairs, _BATCH):
        queries.append(counter.count([query for query, _ in batch], languages[0]))
        new = []
        for _, document in batch:
            key = hashlib.blake2b(document.encode() if isinstance(document, str) else document, digest_size=16).digest()
            if key not in row_of_document:
                row_of_document[key] = len(row_of_document)
                new.append(document)
            rows.append(row_of_document[key])
        documents.append(counter.count(new, languages[1]))
    size = len(counter.terms)
    if not rows:
        return sparse.csr_matrix((size, size))
    for part in (*queries, *documents):
        part.resize((part.shape[0], size))
    of_pair = sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, np.arange(len(rows)))))
    distinct = sparse.vstack(queries, format="csr")
    distinct.data[:] = 1
    # Equal shares are ordered by the order of the terms, which must not be that of the pairs.
    order = _order(counter.terms)
    back = np.argsort(order)
    shares = learn_translations((of_pair @ distinct).T.tocsr()[order], sparse.vstack(documents, format="csr")[:, order])
    return shares[back][:, back]


def _order(terms: Sequence[bytes]) -> list[int]:
    """The places of terms, sorted by their UTF-8."""
    return sorted(range(len(terms)), key=terms.__getitem__)
