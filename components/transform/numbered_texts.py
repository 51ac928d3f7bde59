"""Texts as numbers of their words."""

import hashlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from models.lists.mapped_rows import MappedRows, RowsFile
from models.texts.word_counts import distinct_words


class NumberedTexts:
    """Distinct texts, each of which is tokenised once, however many lists it stands in.

    The numbers of their words lie in a file: those of French Wikipedia take half a gigabyte. No text is met any more
    once they are read.

    Args:
      max_tokens: words of a text that count.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._place: dict[bytes, int] = {}
        """Of each text, by its digest."""
        self._number: dict[bytes, int] = {}
        self._file = RowsFile()

    @property
    def words(self) -> list[bytes]:
        """The distinct words of all texts, by their numbers."""
        return list(self._number)

    def places(self, texts: Sequence[bytes]) -> npt.NDArray[np.int32]:
        """The place of each text, which is met now if it was not before: int32 [texts]."""
        digests = [hashlib.blake2b(text, digest_size=16).digest() for text in texts]
        new = []
        for digest, text in zip(digests, texts, strict=True):
            if digest not in self._place:
                self._place[digest] = len(self._place)
                new.append(text)
        found = distinct_words(new, self._max_tokens)
        numbers = np.array([self._number.setdefault(word, len(self._number)) for word in found.words], np.int32)
        self._file.add(numbers[found.places], np.diff(found.row_splits))
        return np.array([self._place[digest] for digest in digests], np.int32)

    @cached_property
    def _numbers(self) -> MappedRows:
        return self._file.mapped()

    def counts(self, texts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """How often each word stands in texts, some perhaps given more than once: int32 [some] -> int64 [words]."""
        times = np.bincount(texts, minlength=len(self._place))
        counts = np.zeros(len(self._number), np.int64)
        for numbers, lengths in self._numbers.blocks():
            of_block, times = np.split(times, [len(lengths)])
            # Sums of whole numbers below 2^53 are exact in float64, in which NumPy counts.
            counts += np.bincount(numbers, np.repeat(of_block, lengths), len(counts)).astype(np.int64)
        return counts

    def ids(self, of_word: npt.NDArray[np.int32]) -> MappedRows:
        """The texts' ids, in a file likewise, of the id of each word (int32 [words]); those below 0 are left out."""
        file = RowsFile()
        for numbers, lengths in self._numbers.blocks():
            ids = of_word[numbers]
            is_known = ids >= 0
            known_before = np.concatenate([[0], np.cumsum(is_known)])
            file.add(ids[is_known], np.diff(known_before[np.concatenate([[0], np.cumsum(lengths)])]))
        return file.mapped()
