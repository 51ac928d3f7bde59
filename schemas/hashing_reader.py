"""Reads a file and hashes it in one pass."""

import hashlib
import io
from typing import Any, BinaryIO, Final

_BUFFER: Final = 1 << 20


class HashingReader(io.RawIOBase):
    """Reads a stream, and hashes the bytes on the way."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._digest.update(data)
        buffer[: len(data)] = data
        return len(data)

    def hexdigest(self) -> str:
        """SHA-256 of the whole stream; what was not read, for a file may be broken in its midst, is read now."""
        while data := self._stream.read(_BUFFER):
            self._digest.update(data)
        return self._digest.hexdigest()
