"""The terms of the channel of matching words: words, or their stems."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.graphs import kept_values
from models.lexicon.lexicon import Kind
from models.texts.stems import stems_of_distinct
from models.texts.tokens import tokenize
from models.texts.word_counts import distinct_words
from schemas.collection import RawText
from schemas.word_rules import WordRules

_SHOWN_WORDS: Final = 3
"""Number of a stem's words that are kept for readers."""


class Terms(NamedTuple):
    """The terms of texts as numbers of distinct terms, because terms repeat and numbers are cheaper than strings."""

    distinct: tf.Tensor
    """The distinct terms in the order in which they first occur: string [distinct]."""
    indices: tf.RaggedTensor
    """The terms of each text in its order, as indices into `distinct`: int64 [batch, (terms)]."""

    def texts(self) -> tf.RaggedTensor:
        """The terms of each text: string [batch, (terms)]."""
        return self.indices.with_flat_values(tf.gather(self.distinct, self.indices.flat_values))


def terms_of(texts: Any, kind: Kind, language: str, rules: WordRules) -> Terms:
    """The terms of texts: stems for the kind `lexicon`, else words.

    Args:
      texts: string [batch].
      kind: the kind of lexicon.
      language: the texts' ISO 639-1 code.
      rules: the rules for splitting texts into words.
    """
    words = tokenize(texts, rules)
    distinct, index = tf.unique(words.flat_values, tf.int64)
    indices = words.with_flat_values(index)
    if kind != "lexicon":
        return Terms(distinct, indices)
    stem = term_of(distinct, kind, language)  # string [distinct words]
    is_stem = stem != ""
    with_stem = tf.where(is_stem)
    distinct, stem_index = tf.unique(tf.gather_nd(stem, with_stem), tf.int64)
    word_stem = tf.scatter_nd(with_stem, stem_index, tf.shape(stem, tf.int64))  # int64 [distinct words]
    stems = indices.with_flat_values(tf.gather(word_stem, index))
    return Terms(distinct, kept_values(stems, tf.gather(is_stem, index)))


def term_of(words: tf.Tensor, kind: Kind, language: str) -> tf.Tensor:
    """The term of each word: string [words] -> string [words], "" for a word without a stem."""
    return stems_of_distinct(words, language) if kind == "lexicon" else words


class TermCounter:
    """Counts terms in texts, and numbers them in the order of their first occurrence.

    Args:
      kind: the kind of lexicon, which determines the terms.
      rules: the rules for splitting texts into words.
      terms: the terms that get the first numbers.
    """

    def __init__(self, kind: Kind, rules: WordRules, terms: Iterable[bytes] = ()) -> None:
        self._kind: Kind = kind
        self._rules = rules
        self._number = {term: number for number, term in enumerate(terms)}
        self._number_of_word: dict[str, dict[bytes, int]] = {}
        """The numbers of all words so far, by language: a look-up is faster than stemming."""

    @property
    def terms(self) -> list[bytes]:
        """All terms so far, by their numbers."""
        return list(self._number)

    def numbers(self, terms: Iterable[bytes]) -> npt.NDArray[np.int32]:
        """The numbers of terms, new ones for new terms: int32 [terms]."""
        return np.array([self._number.setdefault(term, len(self._number)) for term in terms], np.int32)

    def count(
        self, texts: Sequence[RawText], language: str, occurrences: Counter[bytes] | None = None
    ) -> sparse.csr_matrix:
        """Counts each term in each text: int32 [texts, terms so far]; adds to the occurrences of words, if given."""
        distinct = distinct_words(texts, self._rules)
        if occurrences is not None:
            counts = np.bincount(distinct.indices, minlength=len(distinct.words)).tolist()
            occurrences.update(dict(zip(distinct.words, counts, strict=True)))
        columns = self._numbers_of_words(distinct.words, language)
        return distinct.counts(columns, len(self._number))

    def commonest_words(self, language: str, occurrences: Counter[bytes]) -> list[tuple[bytes, bytes]]:
        """Returns the most frequent words of each term, up to three: pairs of term and word.

        Leaves out a term whose only word is the term itself.

        Args:
          language: the words' ISO 639-1 code.
          occurrences: the number of occurrences of each word.
        """
        words_of = defaultdict[int, list[bytes]](list)
        ordered = sorted(occurrences, key=lambda word: (-occurrences[word], word))
        for word, number in zip(ordered, self._numbers_of_words(ordered, language).tolist(), strict=True):
            if number >= 0 and len(words_of[number]) < _SHOWN_WORDS:
                words_of[number].append(word)
        terms = self.terms
        pairs = ((terms[number], words) for number, words in words_of.items() if words != [terms[number]])
        return [(term, word) for term, words in sorted(pairs) for word in words]

    def _numbers_of_words(self, words: Sequence[bytes], language: str) -> npt.NDArray[np.int32]:
        """The number of each word's term, -1 for a word without a term: int32 [words]."""
        known = self._number_of_word.setdefault(language, {})
        numbers: list[Any] = list(map(known.get, words))
        new = [row for row, number in enumerate(numbers) if number is None]
        terms = term_of(tf.constant([words[row] for row in new], tf.string), self._kind, language)
        for row, term in zip(new, terms.numpy().tolist(), strict=True):
            numbers[row] = self._number.setdefault(term, len(self._number)) if term else -1
            known[words[row]] = numbers[row]
        return np.array(numbers, np.int32)
