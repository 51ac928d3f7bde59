"""Counts given words in texts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from models.distinct_words import distinct_words


class WordCounts(NamedTuple):
    """The words that were found in some texts, an entry for each text and word."""

    texts: npt.NDArray[np.int64]
    """The places of the texts, int64 [entries]."""
    words: npt.NDArray[np.int64]
    """The places of the words, int64 [entries]."""
    counts: npt.NDArray[np.int64]
    """How often the text holds the word, int64 [entries]."""
    lengths: npt.NDArray[np.int64]
    """Tokens of each text, those that are not counted among them: int64 [texts]."""


class WordCounter:
    """Counts words as the model's tokens are made.

    Args:
      words: distinct.
      max_tokens: the model's limit on a text; None for none.

    Attributes:
      place: of each of the words.

    Example:
      >>> counted = WordCounter([b"loup", b"meute"])([b"Un loup est un loup"])
      >>> counted.words.tolist(), counted.counts.tolist(), counted.lengths.tolist()
      ([0], [2], [5])
    """

    def __init__(self, words: Sequence[bytes], max_tokens: int | None = None) -> None:
        self.place = {word: place for place, word in enumerate(words)}
        self._max_tokens = max_tokens

    def __call__(self, texts: Sequence[bytes | str]) -> WordCounts:
        """The words of some texts, by text."""
        found = distinct_words(texts, self._max_tokens)
        place_of_word = np.array([self.place.get(word, -1) for word in found.words], np.int64)
        places, size = place_of_word[found.places], max(len(self.place), 1)
        known = places >= 0
        keys, counts = np.unique(found.texts[known] * size + places[known], return_counts=True)
        return WordCounts(keys // size, keys % size, counts, np.diff(found.row_splits))
