"""Reads input files once, and writes the collection's shards and manifest (see `schemas.collection`)."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final, cast

from schemas.collection import MANIFEST_FILE, InputFile, Role, Shard, manifest_text
from schemas.drops import Drop, DropCounter
from schemas.errors import DataError
from schemas.hashing_reader import HashingReader
from schemas.input_digest import input_digest
from schemas.read_report import ReadReport
from schemas.wikiclir import parse_lines, read_lines

Open = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""

_SHARD_BYTES: Final = 1 << 26
"""A shard ends with the record that fills it: large enough to cost nothing, small enough to share among workers."""
_BUFFER: Final = 1 << 20


def write_collection(
    paths: Mapping[str, Sequence[str]], digests: Mapping[str, str], top_grade: int, folder: str, open_file: Open
) -> dict[str, Role]:
    """Writes the collection.

    Args:
      paths: the files of each role (queries, documents, judgments, candidates), which are read as if they were one.
      digests: what `schemas.input_digest` makes of a role's files: other bytes are refused.
      top_grade: the MR grade.
      folder: to write to.
      open_file: opens what is read and what is written.

    Returns:
      what the manifest holds.

    Raises:
      DataError: a role's files are not those of its digest.
    """
    roles = {}
    for name, files in paths.items():
        roles[name] = role = _write_role(name, files, top_grade, folder, open_file)
        found = input_digest([file.sha256 for file in role.files])
        if found != digests.get(name, found):
            raise DataError(
                f"{' and '.join(files)} must not change while a run reads the data ({name}): expected the SHA-256 "
                f"{digests[name]}; got {found}. Run again once the files are complete."
            )
    with open_file(os.path.join(folder, MANIFEST_FILE), "wb") as file:
        file.write(manifest_text(roles).encode())
    return roles


def _write_role(name: str, paths: Sequence[str], top_grade: int, folder: str, open_file: Open) -> Role:
    """Writes the shards of one role."""
    files: list[InputFile] = []
    left_out = DropCounter()
    records = 0
    seen: set[str] = set()
    with _Shards(name, folder, open_file) as shards:
        for path in paths:
            before = shards.lines
            with open_file(path, "rb") as stored:
                stream = HashingReader(stored)
                lines = _Lines(read_lines(cast(BinaryIO, stream), path))
                for item in parse_lines(name, lines, path, top_grade, seen):
                    if isinstance(item, Drop):
                        shards.write(b"")
                        left_out.add(item)
                    else:
                        shards.write(lines.last)
                        records += 1
                files.append(InputFile(path, stream.hexdigest(), shards.lines - before))
    report = ReadReport(" and ".join(paths), shards.lines, records, left_out.drops())
    return Role(tuple(files), tuple(shards.written), report)


class _Lines:
    """Passes lines on, and holds the last one: a record's line is written as it was read, which saves to encode it."""

    def __init__(self, lines: Iterator[tuple[int, bytes] | Drop]) -> None:
        self._lines = lines
        self.last = b""

    def __iter__(self) -> Iterator[tuple[int, bytes] | Drop]:
        for item in self._lines:
            if not isinstance(item, Drop):
                self.last = item[1]
            yield item


class _Shards:
    """Writes lines into one shard after another."""

    def __init__(self, role: str, folder: str, open_file: Open) -> None:
        self.written: list[Shard] = []
        self.lines = 0
        self._role, self._folder, self._open = role, folder, open_file
        self._waiting: list[bytes] = []
        self._waiting_size = 0
        self._shard: Any = None
        self._shard_bytes = 0

    def __enter__(self) -> "_Shards":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._write_waiting()
        self._end_shard()

    def write(self, line: bytes) -> None:
        """Adds one line."""
        self.lines += 1
        self._waiting.append(line)
        self._waiting_size += len(line) + 1
        if self._waiting_size >= _BUFFER:
            self._write_waiting()
            if self._shard_bytes >= _SHARD_BYTES:
                self._end_shard()

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        first_line = self.lines - len(self._waiting) + 1
        if self._shard is None:
            name = f"{self._role}-{len(self.written):05}.tsv"
            self._shard = self._open(os.path.join(self._folder, name), "wb")
            self.written.append(Shard(name, first_line, 0))
        content = b"\n".join([*self._waiting, b""])
        self._shard.write(content)
        self._shard_bytes += len(content)
        shard = self.written[-1]
        self.written[-1] = Shard(shard.name, shard.first_line, self.lines - shard.first_line + 1)
        self._waiting, self._waiting_size = [], 0

    def _end_shard(self) -> None:
        if self._shard is not None:
            self._shard.close()
            self._shard, self._shard_bytes = None, 0
