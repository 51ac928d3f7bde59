"""Byte streams: unpacking within bounds, hashing and splitting into lines."""

import bz2
import gzip
import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, Protocol, cast

from schemas.errors import DataError

MAX_EXPANSION: Final = 200
"""Largest ratio of a file's unpacked size to its stored size; texts reach 3 to 20."""

_ALWAYS_ALLOWED = 1 << 24
_BUFFER = 1 << 18
_BLOCK = 1 << 20


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Reader(io.RawIOBase):
    """A raw stream over anything with `read`, such as TensorFlow's files."""

    def __init__(self, stream: _Readable) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _read(self, size: int) -> bytes:
        return self._stream.read(size)


class HashingReader(_Reader):
    """Reads a stream and hashes its bytes."""

    def __init__(self, stream: _Readable) -> None:
        super().__init__(stream)
        self._digest = hashlib.sha256()

    def _read(self, size: int) -> bytes:
        data = super()._read(size)
        self._digest.update(data)
        return data

    def hexdigest(self) -> str:
        """SHA-256 of the whole stream. Reads the rest first: a broken file is not read to its end."""
        while self._read(_BLOCK):
            pass
        return self._digest.hexdigest()


def stream_sha256(stream: _Readable) -> str:
    """The SHA-256 of the rest of a stream, in hexadecimal.

    Example:
      >>> stream_sha256(io.BytesIO(b"abc"))[:8]
      'ba7816bf'
    """
    return HashingReader(stream).hexdigest()


def input_digest(digests: Sequence[str]) -> str:
    """The digest of an input: that of its file, or one digest over those of several files in their order.

    Args:
      digests: SHA-256 of each file, in hexadecimal.

    Example:
      >>> input_digest(["3a"]), input_digest(["3a", "3b"])[:8]
      ('3a', 'bd8c769d')
    """
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()


def check_content(setting: str, paths: Sequence[str], digests: Sequence[str], expected: str | None) -> None:
    """Checks that an input has not changed since the cache's key was made.

    Args:
      setting: the dotted setting that gives the input.
      paths: its files.
      digests: the SHA-256 of each file as it was read (see `HashingReader`).
      expected: the `input_digest` in the cache's key; None if the key does not cover the input.

    Raises:
      DataError: the input changed after it was hashed.
    """
    if expected not in (None, actual := input_digest(digests)):
        raise DataError(
            f"{' and '.join(paths)} changed while the run read it ({setting}): expected the SHA-256 {expected}; "
            f"got {actual}. Run again once it is complete."
        )


def raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the lines of a file without their ends. Reads large blocks, because TensorFlow's files are slow by line.

    Args:
      stream: its lines end with a line feed, which the last may lack; a carriage return belongs to the line.

    Example:
      >>> list(raw_lines(io.BytesIO(b"a\\n\\nb\\r")))
      [b'a', b'', b'b\\r']
    """
    begun = b""
    while block := stream.read(_BLOCK):
        *lines, begun = (begun + block).split(b"\n")
        yield from lines
    if begun:
        yield begun


@contextmanager
def unpacked(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Unpacks a plain, gzipped or bzipped stream; its first bytes determine the format, not the file's name.

    Reading raises OSError, EOFError or zlib.error where the compression is broken or cut off, and OSError where the
    content exceeds `MAX_EXPANSION`.
    """
    raw = cast(io.RawIOBase, stream) if hasattr(stream, "readinto") else _Reader(stream)
    stored = _CountingReader(raw, _BUFFER)
    head = stored.peek(3)[:3]
    content: BinaryIO = stored
    if head[:2] == b"\x1f\x8b":
        content = io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=stored), stored))
    elif head == b"BZh":
        content = io.BufferedReader(_Bounded(bz2.BZ2File(stored), stored))
    try:
        yield content
    finally:
        # The caller's stream stays open: the buffer would close it when garbage-collected.
        if not getattr(stream, "closed", False):
            stored.detach()


class _CountingReader(io.BufferedReader):
    """Counts the bytes that are taken from a stream."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


class _Bounded(_Reader):
    """Raises where the content exceeds `MAX_EXPANSION` times the stored bytes."""

    def __init__(self, content: gzip.GzipFile | bz2.BZ2File, stored: _CountingReader) -> None:
        super().__init__(content)
        self._content = content
        self._stored = stored
        self._held = 0

    def _read(self, size: int) -> bytes:
        data = self._content.read1(size)
        self._held += len(data)
        if self._held > max(_ALWAYS_ALLOWED, MAX_EXPANSION * self._stored.taken):
            raise OSError(f"unpacks to more than {MAX_EXPANSION} times its size; if this is intended, unpack it first")
        return data
