"""Millions of short strings in little memory."""

from collections.abc import Iterable

import numpy as np


class PackedStrings:
    """A sequence of strings, held as UTF-8 one after another: some 8 bytes more than each string itself.

    Args:
      strings: in order.

    Example:
      >>> titles = PackedStrings(["Loup", "Éléphant"])
      >>> len(titles), titles[1]
      (2, 'Éléphant')
    """

    def __init__(self, strings: Iterable[str]) -> None:
        content = bytearray()
        ends = [0]
        parts = []
        for string in strings:
            content += string.encode()
            ends.append(len(content))
            if len(ends) == _ENDS:
                parts.append(np.array(ends, np.int64))
                ends = []
        self._ends = np.concatenate([*parts, np.array(ends, np.int64)])
        self._content = bytes(content)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place: int) -> str:
        return self._content[self._ends[place] : self._ends[place + 1]].decode()


_ENDS = 1 << 16
"""Ends that are held as Python's numbers at a time."""
