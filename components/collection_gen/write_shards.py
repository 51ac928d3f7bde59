"""Reads one input file, and writes the shards that it becomes."""

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple, cast

from components.collection_gen.shard_writer import ShardWriter
from schemas.collection import InputFile, Shard
from schemas.drops import Drop, DropCounter, Drops
from schemas.hashing_reader import HashingReader
from schemas.wikiclir import parse_lines, read_lines

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
