"""Writes the lines of an input file into one shard after another."""

import os
from collections.abc import Callable
from typing import Any, Final

from schemas.collection import Shard

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
