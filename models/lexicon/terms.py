"""The terms of texts: what the channel of words that match counts."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.graphs import kept_values
from models.lexicon.lexicon import Kind
from models.texts.stems import stems_of_distinct
from models.texts.tokens import tokenize
from models.texts.word_counts import distinct_words
from schemas.collection import RawText as Text


class Terms(NamedTuple):
    """The terms of texts: most stand in them more than once, and numbers are cheaper than strings."""

    distinct: tf.Tensor
    """string [distinct], in the order in which they come first."""
    places: tf.RaggedTensor
    """int64 [batch, (terms)], among those, in the words' order."""

    def texts(self) -> tf.RaggedTensor:
        """string [batch, (terms)]."""
        return self.places.with_flat_values(tf.gather(self.distinct, self.places.flat_values))


def terms_of(texts: Any, kind: Kind, language: str, max_tokens: int) -> Terms:
    """The terms of texts: stems for the kind `lexicon`, else words.

    Args:
      texts: string [batch].
      kind: of the lexicon.
      language: of the texts.
      max_tokens: words of a text that count.
    """
    words = tokenize(texts, max_tokens)
    distinct, place = tf.unique(words.flat_values, tf.int64)
    places = words.with_flat_values(place)
    if kind != "lexicon":
        return Terms(distinct, places)
    found = term_of(distinct, kind, language)
    is_stem = found != ""
    with_stem = tf.where(is_stem)
    distinct, place_of_stem = tf.unique(tf.gather_nd(found, with_stem), tf.int64)
    place_of_word = tf.scatter_nd(with_stem, place_of_stem, tf.shape(found, tf.int64))
    stems = places.with_flat_values(tf.gather(place_of_word, place))
    return Terms(distinct, kept_values(stems, tf.gather(is_stem, place)))


def term_of(words: tf.Tensor, kind: Kind, language: str) -> tf.Tensor:
    """The term that each word is: string [words] -> string [words], "" for a word that has no stem."""
    return stems_of_distinct(words, language) if kind == "lexicon" else words


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
