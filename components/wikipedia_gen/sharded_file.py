"""A file, or several of about as many records."""

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

Open = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""


class ShardedFile:
    """Writes lines into one file, or into several of about as many records.

    Args:
      folder: of the files.
      name: of the file; of several `name-00000-of-00004`.
      shards: how many; all are made, whatever comes.
      records: how many records come.
      open_file: opens what is written.
    """

    def __init__(self, folder: str, name: str, shards: int, records: int, open_file: Open) -> None:
        names = [name] if shards == 1 else [f"{name}-{shard:05}-of-{shards:05}" for shard in range(shards)]
        self.paths = [os.path.join(folder, one) for one in names]
        self._records = max(records, 1)
        self._open = open_file
        self._files: list[Any] = []

    def __enter__(self) -> "ShardedFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._move_to(len(self.paths) - 1)
        if self._files:
            self._files[-1].close()

    def write(self, record: int, line: str) -> None:
        """Writes a line.

        Args:
          record: the number of its record, from 0, never less than the one before.
          line: without its end.
        """
        self._move_to(record * len(self.paths) // self._records)
        self._files[-1].write(line.encode() + b"\n")

    def _move_to(self, shard: int) -> None:
        while len(self._files) <= shard:
            if self._files:
                self._files[-1].close()
            self._files.append(self._open(self.paths[len(self._files)], "wb"))
