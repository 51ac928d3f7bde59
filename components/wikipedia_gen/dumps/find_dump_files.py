"""The files that make up one dump of pages."""

import glob
import os
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from schemas.errors import DataError

_NAMES: Final = (
    # enwiki-20240101-pages-articles1.xml-p1p41242.bz2
    re.compile(r"(?P<stem>.*?)(?P<number>\d*)\.xml(-p(?P<first>\d+)p(?P<last>\d+))?(?:\.bz2|\.gz)?"),
    # enwiki-2025-09-01-p10p1147431.xml.bz2
    re.compile(r"(?P<stem>.*?)(?P<number>)-p(?P<first>\d+)p(?P<last>\d+)\.xml(?:\.bz2|\.gz)?"),
)


class _Part(NamedTuple):
    first_page: int
    last_page: int
    number: int
    stem: str
    path: str


def find_dump_files(pattern: str, find: Callable[[str], Sequence[str]] = glob.glob) -> list[str]:
    """The parts of one dump, in the order of their pages.

    Parts are told by what Wikimedia calls them: `...-pages-articles1.xml-p1p41242.bz2`, or
    `enwiki-2025-09-01-p10p1147431.xml.bz2` of the content-file exports. Indexes, checksums and whatever else is no XML
    are left out.

    Args:
      pattern: with `*`, `?` or `[...]`; or a file's path, which may be any.
      find: the paths that match a pattern.

    Raises:
      DataError: nothing matches, or what does is not one dump: of two wikis, of two dates, whole files and parts, or
        parts that have pages in common.

    Example:
      >>> there = ["w-pages2.xml-p9p14.bz2", "w-pages1.xml-p1p8.bz2", "w-index1.txt-p1p8.bz2"]
      >>> find_dump_files("w-*", find=lambda pattern: there)
      ['w-pages1.xml-p1p8.bz2', 'w-pages2.xml-p9p14.bz2']
    """
    if not glob.has_magic(pattern):
        return [pattern]
    parts = sorted(part for path in find(pattern) if (part := _part_of(path)))
    if not parts:
        raise DataError(f"no dump file (*.xml, *.xml.bz2, *.xml.gz, or parts of one) matches {pattern}.")
    if len(stems := sorted({part.stem for part in parts})) > 1:
        raise DataError(
            f"{pattern} must match the files of one dump; it matches those of {len(stems)}: {', '.join(stems)}. "
            "Narrow it down."
        )
    for one, other in pairwise(parts):
        if not _follows(one, other):
            raise DataError(
                f"{pattern} must match each page once; {one.path} and {other.path} may have pages in common. "
                "Narrow it down."
            )
    return [part.path for part in parts]


def _follows(one: _Part, other: _Part) -> bool:
    """Whether the pages of one part come after those of another, by their page ids or else by their numbers."""
    if one.last_page >= 0:
        return one.last_page < other.first_page
    return other.last_page < 0 <= one.number < other.number


def _part_of(path: str) -> _Part | None:
    name = os.path.basename(path)
    found = [match for regex in _NAMES if (match := regex.fullmatch(name))]
    if not found:
        return None
    groups = found[-1].groupdict()
    first, last, number = (int(groups[key]) if groups[key] else -1 for key in ("first", "last", "number"))
    return _Part(first, last, number, os.path.join(os.path.dirname(path), groups["stem"]), path)
