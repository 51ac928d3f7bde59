"""Counts the terms of texts."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.distinct_words import distinct_words
from models.lexicon.lexicon import Kind
from models.lexicon.terms import term_of
from schemas.sharded_texts import Text


class TermCounter:
    """Numbers terms as it meets them, and counts them in texts.

    Args:
      kind: what terms are, see `models.lexicon.terms`.
      max_tokens: words of a text that count.
      terms: those that have the first numbers.
    """

    def __init__(self, kind: Kind, max_tokens: int, terms: Iterable[bytes] = ()) -> None:
        self._kind: Kind = kind
        self._max_tokens = max_tokens
        self._number = {term: number for number, term in enumerate(terms)}
        self._number_of_word: dict[str, dict[bytes, int]] = {}
        """By language, of every word so far: stemming a word takes longer than looking it up."""

    @property
    def terms(self) -> list[bytes]:
        """Those that have been met, by their numbers."""
        return list(self._number)

    def numbers(self, terms: Iterable[bytes]) -> npt.NDArray[np.int32]:
        """The numbers of terms, which are met now if they were not before: int32 [terms]."""
        return np.array([self._number.setdefault(term, len(self._number)) for term in terms], np.int32)

    def count(self, texts: Sequence[Text], language: str) -> sparse.csr_matrix:
        """How often each term stands in each text: int32 [texts, terms met so far]."""
        found = distinct_words(texts, self._max_tokens)
        columns = self._numbers_of_words(found.words, language)[found.places]
        is_term = columns >= 0
        # Of a text that begins after so many words, the terms before.
        before = np.concatenate([[0], np.cumsum(is_term)])
        counts = sparse.csr_matrix(
            (np.ones(before[-1], np.int32), columns[is_term], before[found.row_splits]),
            shape=(len(texts), len(self._number)),
        )
        counts.sum_duplicates()
        return counts

    def _numbers_of_words(self, words: Sequence[bytes], language: str) -> npt.NDArray[np.int32]:
        """The number of each word's term, -1 for a word that has none: int32 [words]."""
        known = self._number_of_word.setdefault(language, {})
        numbers: list[Any] = list(map(known.get, words))
        new = [place for place, number in enumerate(numbers) if number is None]
        terms = term_of(tf.constant([words[place] for place in new], tf.string), self._kind, language)
        for place, term in zip(new, terms.numpy().tolist(), strict=True):
            numbers[place] = self._number.setdefault(term, len(self._number)) if term else -1
            known[words[place]] = numbers[place]
        return np.array(numbers, np.int32)
