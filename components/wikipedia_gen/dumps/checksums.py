"""Compares files with the checksums that were published with them."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from components.wikipedia_gen.dumps.opened import OpenFile, opened, opened_if_there
from schemas.errors import DataError

_BLOCK: Final = 1 << 20
_HEX_DIGITS: Final = {"sha256": 64, "sha1": 40, "md5": 32}
_LINE: Final = re.compile(r"([0-9A-Fa-f]{32,64})(?:\s+\*?(\S.*))?")
_TAGGED_LINE: Final = re.compile(r"[A-Z0-9]+ \((.+)\) = ([0-9A-Fa-f]{32,64})")
_DUMP: Final = re.compile(r"[a-z0-9_]+-(?:[0-9]{8}|latest)")
"""What the names of the files of one dump begin with, that of its checksums too."""


class FileSum(NamedTuple):
    """A file, as a manifest names it.

    Attributes:
      path: of the file.
      size: in bytes.
      sha256: in hexadecimal.
      verified_by: the files of checksums that name it; empty if there are none.
    """

    path: str
    size: int
    sha256: str
    verified_by: tuple[str, ...]


def check_sums(paths: Sequence[str], say: Callable[[str], None], open_file: OpenFile) -> list[FileSum]:
    """Reads each file once, and compares it with every checksum of it that lies beside.

    Looked for are `SHA256SUMS` (and SHA1SUMS, MD5SUMS), `enwiki-20240101-sha1sums.txt` (and the like) and
    `FILE.sha256` (and the like), in the forms that `sha256sum` writes.

    Args:
      paths: of the files.
      say: is told of each file that has no checksum.
      open_file: opens the files and the checksums.

    Raises:
      DataError: a file is not what it was when its checksum was published.
    """
    return [_check(path, say, open_file) for path in paths]


def _check(path: str, say: Callable[[str], None], open_file: OpenFile) -> FileSum:
    expected = [*_published(path, open_file)]
    size, digests = _digests(path, {"sha256", *(algorithm for algorithm, _, _ in expected)}, open_file)
    for algorithm, digest, source in expected:
        if digests[algorithm] != digest:
            raise DataError(
                f"{path}: wrong checksum: expected {algorithm} {digest} by {source}; got {digests[algorithm]} of "
                f"{size:,} bytes. Download the file again, or both if the dump was made anew."
            )
    if not expected:
        say(f"{path}: not verified, for no file of checksums beside it names it.")
    return FileSum(path, size, digests["sha256"], tuple(source for _, _, source in expected))


def _digests(path: str, algorithms: set[str], open_file: OpenFile) -> tuple[int, Mapping[str, str]]:
    """A file's size and its digests, in hexadecimal."""
    hashes = {algorithm: hashlib.new(algorithm, usedforsecurity=False) for algorithm in sorted(algorithms)}
    size = 0
    with opened(path, open_file) as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
            for one in hashes.values():
                one.update(block)
    return size, {algorithm: one.hexdigest() for algorithm, one in hashes.items()}


def _published(path: str, open_file: OpenFile) -> Iterator[tuple[str, str, str]]:
    """(algorithm, digest, file of checksums) of every checksum of a file."""
    folder, name = os.path.split(path)
    dump = _DUMP.match(name)
    for algorithm, digits in _HEX_DIGITS.items():
        own = f"{name}.{algorithm}"
        for source in (own, f"{algorithm.upper()}SUMS", f"{dump[0]}-{algorithm}sums.txt" if dump else ""):
            lines = _lines(os.path.join(folder, source), open_file) if source else []
            for digest, named in filter(None, map(_parsed, lines)):
                if len(digest) == digits and (named == name or (source == own and not named)):
                    yield algorithm, digest, os.path.join(folder, source)
                    break


def _parsed(line: str) -> tuple[str, str] | None:
    """A digest, and the name of its file if the line has one."""
    if found := _LINE.fullmatch(line):
        return found[1].lower(), os.path.basename(found[2] or "")
    if found := _TAGGED_LINE.fullmatch(line):
        return found[2].lower(), os.path.basename(found[1])
    return None


def _lines(path: str, open_file: OpenFile) -> list[str]:
    """The lines of a file; none if there is no such file."""
    with opened_if_there(path, open_file) as stream:
        content: bytes = stream.read() if stream else b""
    return [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
