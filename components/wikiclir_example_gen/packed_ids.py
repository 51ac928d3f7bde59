"""Many ids in little memory."""

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt


class PackedIds(Sequence[str]):
    """A sequence of ids, held as one text and the place where each begins: some 15 bytes an id where a list takes 60.

    Args:
      lines: the ids, each with a line end; an empty line is none.

    Example:
      >>> list(PackedIds(b"d1\\n\\nd3\\n"))
      ['d1', 'd3']
    """

    def __init__(self, lines: bytes) -> None:
        ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
        starts = np.append(0, ends[:-1] + 1)[: len(ends)]
        are_there = starts < ends
        self._lines = lines
        self._starts = array("Q", starts[are_there].astype(np.uint64).tobytes())
        self._lengths = array("I", (ends - starts)[are_there].astype(np.uint32).tobytes())

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        start = self._starts[place]
        return self._lines[start : start + self._lengths[place]].decode()

    def raw(self) -> Iterator[bytes]:
        """The ids in UTF-8."""
        return (self._lines[start : start + length] for start, length in zip(self._starts, self._lengths, strict=True))

    def select(self, places: npt.NDArray[np.int64]) -> "PackedIds":
        """Those at some places."""
        return PackedIds("".join(f"{self[place]}\n" for place in places.tolist()).encode())
