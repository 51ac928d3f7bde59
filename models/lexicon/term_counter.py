"""Counts the terms of texts."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.lexicon.lexicon import Kind
from models.lexicon.terms import terms_of
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

    @property
    def terms(self) -> list[bytes]:
        """Those that have been met, by their numbers."""
        return list(self._number)

    def numbers(self, terms: Iterable[bytes]) -> npt.NDArray[np.int32]:
        """The numbers of terms, which are met now if they were not before: int32 [terms]."""
        return np.array([self._number.setdefault(term, len(self._number)) for term in terms], np.int32)

    def count(self, texts: Sequence[Text], language: str) -> sparse.csr_matrix:
        """How often each term stands in each text: int32 [texts, terms met so far]."""
        terms = terms_of(tf.constant(texts, tf.string), self._kind, language, self._max_tokens)
        columns = self.numbers(terms.distinct.numpy().tolist())[terms.places.flat_values.numpy()]
        counts = sparse.csr_matrix(
            (np.ones(len(columns), np.int32), columns, terms.places.row_splits.numpy()),
            shape=(len(texts), len(self._number)),
        )
        counts.sum_duplicates()
        return counts
