"""Texts as numbers of their words."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.distinct_words import distinct_words

_TEXTS_OF_A_BLOCK: Final = 1 << 14


class IdsOfTexts(NamedTuple):
    """Ids of the words of texts.

    Attributes:
      values: int32 [ids of all texts].
      row_splits: where each text's ids begin, and the end of the last: int64 [texts + 1].
    """

    values: npt.NDArray[np.int32]
    row_splits: npt.NDArray[np.int64]

    def of(self, texts: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The ids of some texts, one after the other, and where each text's begin and the last's end."""
        starts = self.row_splits[texts]
        lengths = self.row_splits[texts + 1] - starts
        row_splits = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(row_splits[-1]) + np.repeat(starts - row_splits[:-1], lengths)
        return self.values[places], row_splits


class NumberedTexts:
    """Distinct texts, each of which is tokenised once, however many lists it stands in.

    The numbers of their words lie in a file: those of French Wikipedia take half a gigabyte.

    Args:
      folder: for the file.
      max_tokens: words of a text that count.
    """

    def __init__(self, folder: str, max_tokens: int) -> None:
        self._folder, self._max_tokens = folder, max_tokens
        self._place: dict[bytes, int] = {}
        """Of each text, by its digest."""
        self._number: dict[bytes, int] = {}
        self._lengths: list[npt.NDArray[np.int64]] = []

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
        self._append(new)
        return np.array([self._place[digest] for digest in digests], np.int32)

    def _append(self, texts: Sequence[bytes]) -> None:
        found = distinct_words(texts, self._max_tokens)
        numbers = np.array([self._number.setdefault(word, len(self._number)) for word in found.words], np.int32)
        self._lengths.append(np.diff(found.row_splits))
        with open(self._path("numbers"), "ab") as file:
            numbers[found.places].tofile(file)

    def counts(self, texts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """How often each word stands in texts, some perhaps given more than once: int32 [some] -> int64 [words]."""
        times = np.bincount(texts, minlength=len(self._place))
        counts = np.zeros(len(self._number), np.int64)
        for block, numbers, lengths in self._blocks():
            # Sums of whole numbers below 2^53 are exact in float64, in which NumPy counts.
            counts += np.bincount(numbers, np.repeat(times[block], lengths), len(counts)).astype(np.int64)
        return counts

    def ids(self, name: str, of_word: npt.NDArray[np.int32]) -> IdsOfTexts:
        """The texts' ids, without those below 0.

        Args:
          name: of a file for them.
          of_word: the id of each word, int32 [words].
        """
        row_splits = [np.zeros(1, np.int64)]
        with open(self._path(name), "wb") as file:
            for _, numbers, lengths in self._blocks():
                ids = of_word[numbers]
                is_known = ids >= 0
                ids[is_known].tofile(file)
                known_before = np.concatenate([[0], np.cumsum(is_known)])
                row_splits.append(row_splits[-1][-1] + known_before[np.cumsum(lengths)])
        return IdsOfTexts(_mapped(self._path(name)), np.concatenate(row_splits))

    def _blocks(self) -> Iterator[tuple[slice, npt.NDArray[np.int32], npt.NDArray[np.int64]]]:
        """Consecutive texts, the numbers of their words, one text after the other, and the texts' lengths."""
        numbers, lengths = _mapped(self._path("numbers")), np.concatenate([np.zeros(0, np.int64), *self._lengths])
        ends = np.concatenate([[0], np.cumsum(lengths)])
        for first in range(0, len(lengths), _TEXTS_OF_A_BLOCK):
            block = slice(first, min(first + _TEXTS_OF_A_BLOCK, len(lengths)))
            yield block, numbers[ends[block.start] : ends[block.stop]], lengths[block]

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}.int32")


def _mapped(path: str) -> npt.NDArray[Any]:
    """A file of int32, empty where there is none."""
    if not os.path.exists(path) or not os.path.getsize(path):
        return np.zeros(0, np.int32)
    return np.memmap(path, np.int32, "r")
