"""What making a collection takes, before it begins: time, disk and memory."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from components.wikipedia_gen.look import Look, look_into
from components.wikipedia_gen.settings import WikipediaSettings
from schemas.errors import DataError
from schemas.wording import rounded, rounded_duration, rounded_size

SMALL_BYTES: Final = 1 << 24
"""Dumps of no more bytes are read sooner than their estimate is made."""

_TABLE_BYTES_A_SECOND: Final = 4e6
"""Of a gzipped table."""
_BASE_BYTES: Final = 250e6
"""Of memory: Python, its libraries, and a piece of a dump."""
_BYTES_A_PAGE: Final = 160
"""Of memory: what is known of an article or redirect, and its title."""
_BYTES_A_LINK: Final = 20
"""Of memory, while mutual links are found."""
_GAIN: Final = 0.8
"""Of each process after the first: they share memory and disk."""


@dataclass(frozen=True)
class Estimate:
    """What a making takes.

    Attributes:
      pages: of all dumps.
      processes: that read them.
      seconds: of the whole.
      disk_bytes: below the output, while it is made; half of it stays.
      memory_bytes: of the largest process.
    """

    pages: int
    processes: int
    seconds: float
    disk_bytes: int
    memory_bytes: int

    def describe(self) -> Iterator[str]:
        """A line for a person."""
        yield (
            f"estimate: some {rounded(self.pages):,} pages, {rounded_duration(self.seconds)} with {self.processes} "
            f"process{'es' if self.processes > 1 else ''}, {rounded_size(self.disk_bytes)} of disk while it is made, "
            f"{rounded_size(self.memory_bytes)} of memory"
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def preflight(
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
    folder: str,
    say: Callable[[str], None],
    processes: int | None = None,
) -> None:
    """Says what a long making takes, and refuses one that the disk cannot hold.

    Args:
      pairs, settings, files: see `read_dumps`; the files are on this machine.
      folder: that is written, there or not.
      say: called with a line for a person.
      processes: that read the dumps; None for as many as cores.

    Raises:
      DataError: the disk has too little room, or a dump is damaged, as far as it was read.
    """
    if sum(os.path.getsize(path) for some in files.values() for path in some) < SMALL_BYTES:
        return
    expected = estimate_making(pairs, settings, files, processes)
    for line in expected.describe():
        say(line)
    _check_room(expected, folder)


def estimate_making(
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
    processes: int | None = None,
) -> Estimate:
    """Estimates a making by the sizes of its files and some seconds of reading each dump.

    Args:
      pairs, settings, files, processes: see `preflight`.

    Raises:
      DataError: a dump is damaged, as far as it was read.
    """
    looks = look_into(pairs, settings, files)
    return estimate_from(looks, _table_bytes(files), processes or len(os.sched_getaffinity(0)))


def estimate_from(looks: Sequence[Look], table_bytes: int, processes: int) -> Estimate:
    """What follows from a look into each dump.

    Args:
      looks: one a wiki.
      table_bytes: of the SQL tables, as they are stored.
      processes: that read the dumps.
    """
    pages = sum(look.account.read / look.share for look in looks)
    links = sum(look.account.links / look.share for look in looks)
    kept = sum(look.kept_bytes / look.share for look in looks)
    seconds = sum(look.seconds / look.share for look in looks) + table_bytes / _TABLE_BYTES_A_SECOND
    return Estimate(
        pages=round(pages),
        processes=processes,
        seconds=seconds / (1 + _GAIN * (processes - 1)),
        disk_bytes=round(2 * kept + 8 * links + 64 * pages),
        memory_bytes=round(_BASE_BYTES + _BYTES_A_PAGE * pages + _BYTES_A_LINK * links),
    )


def _check_room(expected: Estimate, output: str) -> None:
    folder = Path(output)
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < expected.disk_bytes:
        raise DataError(
            f"{output} must lie on a disk with {rounded_size(expected.disk_bytes)} of room, as far as a look into the "
            f"dumps tells; there are {rounded_size(free)}: make room, or choose another output."
        )


def _table_bytes(files: Mapping[str, Sequence[str]]) -> int:
    return sum(os.path.getsize(path) for key, some in files.items() if not key.endswith(".pages") for path in some)
