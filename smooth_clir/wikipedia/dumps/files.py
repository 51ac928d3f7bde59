"""Finds the files of a dump, and compares them with the published checksums."""

import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from schemas.byte_streams import check_content
from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.reading import opened, opened_if_there

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
    """Returns the parts of a dump, in the order of their pages.

    Parts are recognised by Wikimedia's names: `...-pages-articles1.xml-p1p41242.bz2`, or
    `enwiki-2025-09-01-p10p1147431.xml.bz2` in the content-file exports. Indexes, checksums and all other files that
    are not XML are left out.

    Args:
      pattern: a pattern with `*`, `?` or `[...]`; or the path of a single file, with any name in any folder.
      find: returns the paths that match a pattern.

    Raises:
      DataError: no file matches, or the matching files are not a single dump: they have two wikis, two dates, whole
        files and parts, or parts that have pages in common.

    Example:
      >>> there = ["w-pages2.xml-p9p14.bz2", "w-pages1.xml-p1p8.bz2", "w-index1.txt-p1p8.bz2"]
      >>> find_dump_files("w-*", find=lambda pattern: there)
      ['w-pages1.xml-p1p8.bz2', 'w-pages2.xml-p9p14.bz2']
    """
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        return [pattern]
    parts = sorted(part for path in find(pattern) if (part := _part_of(path)))
    if not parts:
        raise DataError(f"No dump file (*.xml, *.xml.bz2, *.xml.gz, or parts of it) matches {pattern}.")
    if len(stems := sorted({part.stem for part in parts})) > 1:
        raise DataError(
            f"{pattern} must match the files of a single dump; got {len(stems)} dumps: {', '.join(stems)}. Narrow it "
            "down."
        )
    for first, second in pairwise(parts):
        if not _follows(first, second):
            raise DataError(
                f"{pattern} must match each page once; {first.path} and {second.path} may have pages in common. "
                "Narrow it down."
            )
    return [part.path for part in parts]


def _follows(first: _Part, second: _Part) -> bool:
    """Returns whether the second part's pages come after the first's, by page ids or else by the parts' numbers."""
    if first.last_page >= 0:
        return first.last_page < second.first_page
    return second.last_page < 0 <= first.number < second.number


def _part_of(path: str) -> _Part | None:
    name = os.path.basename(path)
    matches = [match for regex in _NAMES if (match := regex.fullmatch(name))]
    if not matches:
        return None
    groups = matches[-1].groupdict()
    first, last, number = (int(groups[key]) if groups[key] else -1 for key in ("first", "last", "number"))
    return _Part(first, last, number, os.path.join(os.path.dirname(path), groups["stem"]), path)


_BLOCK: Final = 1 << 20
_HEX_DIGITS: Final = {"sha256": 64, "sha1": 40, "md5": 32}
_LINE: Final = re.compile(r"([0-9A-Fa-f]{32,64})(?:\s+\*?(\S.*))?")
_TAGGED_LINE: Final = re.compile(r"[A-Z0-9]+ \((.+)\) = ([0-9A-Fa-f]{32,64})")
_DUMP: Final = re.compile(r"[a-z0-9_]+-(?:[0-9]{8}|latest)")
"""The beginning of the names of all files of a dump, including its checksums."""


class FileSum(NamedTuple):
    """A file's entry in a manifest.

    Attributes:
      path: the file's path.
      size: the size in bytes.
      sha256: the digest in hexadecimal.
      verified_by: the checksum files that name the file.
    """

    path: str
    size: int
    sha256: str
    verified_by: tuple[str, ...]


def check_sum(path: str) -> FileSum:
    """Reads a file once, and compares it with all of its checksums in the same folder.

    These are `SHA256SUMS` (and SHA1SUMS, MD5SUMS), `enwiki-20240101-sha1sums.txt` (and the like) and `FILE.sha256` (and
    the like), in the forms that `sha256sum` writes.

    Raises:
      DataError: the file differs from a published checksum.
    """
    expected = [*_published(path)]
    size, digests = _digests(path, {"sha256", *(algorithm for algorithm, _, _ in expected)})
    for algorithm, digest, source in expected:
        if digests[algorithm] != digest:
            raise DataError(
                f"{path}: wrong checksum: expected {algorithm} {digest} by {source}; got {digests[algorithm]} of "
                f"{size:,} bytes. Download the file again, or both files if the dump was published again."
            )
    return FileSum(path, size, digests["sha256"], tuple(source for _, _, source in expected))


def _digests(path: str, algorithms: set[str]) -> tuple[int, Mapping[str, str]]:
    """Returns a file's size, and its digests in hexadecimal."""
    hashers = {algorithm: hashlib.new(algorithm, usedforsecurity=False) for algorithm in sorted(algorithms)}
    size = 0
    with opened(path) as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
            for hasher in hashers.values():
                hasher.update(block)
    return size, {algorithm: hasher.hexdigest() for algorithm, hasher in hashers.items()}


def _published(path: str) -> Iterator[tuple[str, str, str]]:
    """Yields (algorithm, digest, checksum file) for each published checksum of a file."""
    folder, name = os.path.split(path)
    dump = _DUMP.match(name)
    for algorithm, digits in _HEX_DIGITS.items():
        own = f"{name}.{algorithm}"
        for source in (own, f"{algorithm.upper()}SUMS", f"{dump[0]}-{algorithm}sums.txt" if dump else ""):
            lines = _lines(os.path.join(folder, source)) if source else []
            for digest, named in filter(None, map(_parsed, lines)):
                if len(digest) == digits and (named == name or (source == own and not named)):
                    yield algorithm, digest, os.path.join(folder, source)
                    break


def _parsed(line: str) -> tuple[str, str] | None:
    """Returns a line's digest, and its file name, which may be empty."""
    if match := _LINE.fullmatch(line):
        return match[1].lower(), os.path.basename(match[2] or "")
    if match := _TAGGED_LINE.fullmatch(line):
        return match[2].lower(), os.path.basename(match[1])
    return None


def _lines(path: str) -> list[str]:
    """Returns the lines of a file; none if it does not exist."""
    with opened_if_there(path) as stream:
        content: bytes = stream.read() if stream else b""
    return [line.strip() for line in content.decode("utf-8", "replace").splitlines()]


def check_digests(files: Mapping[str, Sequence[FileSum]], digests: Mapping[str, str]) -> None:
    """Checks that the read files are those with which the run began.

    Args:
      files: the read files, by the keys of their settings.
      digests: each key's `input_digest` at the beginning of the run.

    Raises:
      DataError: an input has changed.
    """
    for key, file_sums in files.items():
        sums = sorted(file_sums, key=lambda file: file.path)
        check_content(
            f"data.wikipedia.{key}", [file.path for file in sums], [file.sha256 for file in sums], digests.get(key)
        )


def file_states(files: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """Returns the number, size and time of the last change of each local file, by path.

    Shows a change of a dump while several processes read its pieces, of which no digest covers what each has read.
    """
    states = {path: os.stat(path) for paths in files.values() for path in paths if "://" not in path}
    return {path: (state.st_ino, state.st_size, state.st_mtime_ns) for path, state in states.items()}
