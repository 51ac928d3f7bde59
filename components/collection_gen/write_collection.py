"""Reads input files once, and writes the collection's shards and manifest (see `schemas.collection`)."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any, BinaryIO, Final, NamedTuple, cast

import numpy as np

from schemas.byte_streams import HashingReader, input_digest, raw_lines
from schemas.collection import EMPTY_LINE, MANIFEST_FILE, InputFile, Role, Shard, manifest_text
from schemas.drops import Drop, DropCounter, Drops, ReadReport, sum_of_drops
from schemas.errors import DataError
from schemas.wikiclir import Reason, excerpt_of, parse_lines, read_lines

_SHARD_BYTES: Final = 1 << 26
"""A shard ends with the record that fills it: large enough to cost nothing, small enough to share among workers."""
_BUFFER: Final = 1 << 20


class ShardWriter:
    """Writes lines into one shard after another, and perhaps the ids that they begin with beside them.

    Args:
      prefix: of the shards' names.
      has_ids: whether a line begins with its record's id.
      folder: of the shards.
      open_file: opens what is written.

    Attributes:
      written: the shards, of which the last may still grow.
      lines: of all of them.
    """

    def __init__(self, prefix: str, has_ids: bool, folder: str, open_file: Callable[[str, str], Any]) -> None:
        self.written: list[Shard] = []
        self.lines = 0
        self._prefix, self._has_ids, self._folder, self._open = prefix, has_ids, folder, open_file
        self._waiting: list[bytes] = []
        self._waiting_size = 0
        self._shard: Any = None
        self._ids: Any = None
        self._shard_bytes = 0

    def __enter__(self) -> "ShardWriter":
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
        if self._shard is None:
            self._begin_shard()
        content = b"\n".join([*self._waiting, b""])
        self._shard.write(content)
        self._shard_bytes += len(content)
        if self._ids is not None:
            self._ids.write(b"\n".join([*(line.partition(b"\t")[0] for line in self._waiting), b""]))
        shard = self.written[-1]
        self.written[-1] = Shard(shard.name, shard.first_line, self.lines - shard.first_line + 1)
        self._waiting, self._waiting_size = [], 0

    def _begin_shard(self) -> None:
        shard = Shard(f"{self._prefix}-{len(self.written):05}.tsv", self.lines - len(self._waiting) + 1, 0)
        self.written.append(shard)
        self._shard = self._open(os.path.join(self._folder, shard.name), "wb")
        if self._has_ids:
            self._ids = self._open(os.path.join(self._folder, shard.ids_name), "wb")

    def _end_shard(self) -> None:
        for file in (self._shard, self._ids):
            if file is not None:
                file.close()
        self._shard, self._ids, self._shard_bytes = None, None, 0


HAVE_IDS: Final = ("queries", "documents")
"""The roles whose records have ids, each its own."""


class ShardsOfFile(NamedTuple):
    """What became of one input file."""

    file: InputFile
    shards: tuple[Shard, ...]
    """Their first lines are counted in the file."""
    records: int
    drops: tuple[Drops, ...]


def write_shards(
    source: tuple[str, int, str], top_grade: int, folder: str, open_file: Callable[[str, str], Any]
) -> ShardsOfFile:
    """Writes the shards of one file, whose repeated ids all stay.

    Args:
      source: the file's role, its number among the files of that role, and its path.
      top_grade: the MR grade.
      folder: to write to.
      open_file: opens what is read and what is written.
    """
    role, number, path = source
    left_out = DropCounter()
    records = 0
    shards = ShardWriter(f"{role}-{number:05}", role in HAVE_IDS, folder, open_file)
    with open_file(path, "rb") as stored, shards:
        stream = HashingReader(stored)
        lines = _Lines(read_lines(cast(BinaryIO, stream), path))
        for item in parse_lines(role, lines, path, top_grade, seen=None):
            if isinstance(item, Drop):
                shards.write(b"")
                left_out.add(item)
            else:
                shards.write(lines.last)
                records += 1
        digest = stream.hexdigest()
    return ShardsOfFile(InputFile(path, digest, shards.lines), tuple(shards.written), records, left_out.drops())


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


Open = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""


def leave_out_repeated(role: Role, folder: str, open_file: Open) -> Role:
    """Empties the lines of all records but the first of each id; nothing is written where there are none.

    Held in memory are eight bytes a record, besides the repeated ids and one shard that has some.

    Args:
      role: whose shards have files of ids.
      folder: of the collection.
      open_file: opens what is read and what is written.

    Returns:
      the role without these records.
    """
    repeated = _repeated(role, folder, open_file)
    left_out = DropCounter()
    for shard in role.shards:
        if lines := repeated.get(shard.name):
            _empty(os.path.join(folder, shard.ids_name), lines, open_file)
            dropped = _empty(os.path.join(folder, shard.name), lines, open_file)
            for place, text in zip(sorted(lines), dropped, strict=True):
                left_out.add(Drop(Reason.DUPLICATE_ID, *role.place(shard.first_line + place), excerpt_of(text)))
    drops = left_out.drops()
    report, count = role.report, sum(one.count for one in drops)
    drops = sum_of_drops((*report.drops, *drops))
    return replace(role, report=ReadReport(report.path, report.read, report.used - count, drops))


def _repeated(role: Role, folder: str, open_file: Open) -> Mapping[str, set[int]]:
    """The places of the lines in each shard, by its name, whose ids stood before."""

    def ids() -> Iterator[tuple[Shard, int, bytes]]:
        for shard in role.shards:
            with open_file(os.path.join(folder, shard.ids_name), "rb") as stream:
                yield from ((shard, place, line) for place, line in enumerate(raw_lines(stream)) if line)

    # Python's own hash holds within a process; what shares one with another is looked at itself.
    hashes = np.fromiter((hash(line) for _, _, line in ids()), np.int64, role.report.used)
    values, counts = np.unique(hashes, return_counts=True)
    suspects = set(values[counts > 1].tolist())
    places: dict[str, set[int]] = defaultdict(set)
    if suspects:
        seen: set[bytes] = set()
        for shard, place, line in ids():
            if hash(line) in suspects:
                if line in seen:
                    places[shard.name].add(place)
                seen.add(line)
    return places


def _empty(path: str, places: set[int], open_file: Open) -> list[str]:
    """Empties lines of a file; returns what they were."""
    with open_file(path, "rb") as stream:
        lines = stream.readlines()
    emptied = [lines[place][:-1].decode() for place in sorted(places)]
    for place in places:
        lines[place] = EMPTY_LINE
    with open_file(path, "wb") as stream:
        stream.write(b"".join(lines))
    return emptied


"""Opens a file, local or remote: (path, mode) -> stream of bytes."""

Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Applies a function to items, as `map` does."""


def write_collection(
    paths: Mapping[str, Sequence[str]],
    digests: Mapping[str, str],
    top_grade: int,
    folder: str,
    open_file: Open,
    apply: Apply = map,
) -> dict[str, Role]:
    """Writes the collection.

    Each file becomes shards of its own, by itself: a file's digest needs its bytes from the first to the last, so that
    several readers of one file would read it twice. What needs all files is done here, of their ids alone: an id stays
    where it stands first, whichever file that is.

    Args:
      paths: the files of each role (queries, documents, judgments, candidates), which are read as if they were one.
      digests: what `schemas.byte_streams` makes of a role's files: other bytes are refused.
      top_grade: the MR grade.
      folder: to write to.
      open_file: opens what is read and what is written.
      apply: reads the files, perhaps elsewhere and several at a time.

    Returns:
      what the manifest holds.

    Raises:
      DataError: a role's files are not those of its digest.
    """
    files = [(role, number, path) for role, some in paths.items() for number, path in enumerate(some)]
    written: dict[str, list[ShardsOfFile]] = {role: [] for role in paths}
    read = partial(write_shards, top_grade=top_grade, folder=folder, open_file=open_file)
    for (role, _, _), one in zip(files, apply(read, files), strict=True):
        written[role].append(one)
    roles = {}
    for name, parts in written.items():
        found = input_digest([part.file.sha256 for part in parts])
        if found != digests.get(name, found):
            raise DataError(
                f"{' and '.join(paths[name])} must not change while a run reads the data ({name}): expected the "
                f"SHA-256 {digests[name]}; got {found}. Run again once the files are complete."
            )
        roles[name] = _role(name, parts, folder, open_file)
    with open_file(os.path.join(folder, MANIFEST_FILE), "wb") as file:
        file.write(manifest_text(roles).encode())
    return roles


def _role(name: str, parts: Sequence[ShardsOfFile], folder: str, open_file: Open) -> Role:
    """The role that files make together."""
    lines_before = accumulate((part.file.lines for part in parts), initial=0)
    shards = tuple(
        Shard(shard.name, before + shard.first_line, shard.lines)
        for before, part in zip(lines_before, parts, strict=False)
        for shard in part.shards
    )
    read = sum(part.file.lines for part in parts)
    role = Role(
        files=tuple(part.file for part in parts),
        shards=shards,
        report=ReadReport(
            " and ".join(part.file.path for part in parts),
            read,
            sum(part.records for part in parts),
            sum_of_drops(drops for part in parts for drops in part.drops),
        ),
    )
    return leave_out_repeated(role, folder, open_file) if name in HAVE_IDS else role
