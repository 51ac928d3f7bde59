"""Streams of bytes: how a file is opened, unpacked within bounds, hashed and split into lines."""

import bz2
import gzip
import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, Protocol, TypeAlias, cast

OpenFile: TypeAlias = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""

_BLOCK: Final = 1 << 20


def raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, without their ends.

    Args:
      stream: whose lines end with a line feed, which the last may lack; a carriage return is of the line.

    Example:
      >>> from io import BytesIO
      >>> list(raw_lines(BytesIO(b"a\\n\\nb\\r")))
      [b'a', b'', b'b\\r']
    """
    begun = b""
    while block := stream.read(_BLOCK):
        *lines, begun = (begun + block).split(b"\n")
        yield from lines
    if begun:
        yield begun


MAX_EXPANSION: Final = 200
"""A file that unpacks to more than this many times its size is not read on: texts come to 3 to 20 times theirs."""

_ALWAYS_ALLOWED = 1 << 24
_BUFFER = 1 << 18


@contextmanager
def unpacked(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The content of a plain, gzipped or bzipped stream; its first bytes show the kind, not a file's name.

    Reading raises OSError, EOFError or zlib.error where the compression is broken or cut off, and OSError where it
    goes beyond `MAX_EXPANSION`.
    """
    stored = _CountingReader(_raw(stream), _BUFFER)
    head = stored.peek(3)[:3]
    content: BinaryIO = stored
    if head[:2] == b"\x1f\x8b":
        content = io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=stored), stored))
    elif head == b"BZh":
        content = io.BufferedReader(_Bounded(bz2.BZ2File(stored), stored))
    try:
        yield content
    finally:
        # The stream belongs to the caller: a buffer that is collected would close it.
        if not getattr(stream, "closed", False):
            stored.detach()


def _raw(stream: BinaryIO) -> io.RawIOBase:
    """The stream as a buffer takes it; TensorFlow's has `read` alone."""
    return cast(io.RawIOBase, stream) if hasattr(stream, "readinto") else _Read(stream)


class _Read(io.RawIOBase):
    """A stream of which only `read` is asked."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _CountingReader(io.BufferedReader):
    """Counts the bytes that are taken of a stream."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


class _Bounded(io.RawIOBase):
    """Raises where the content comes to more than `MAX_EXPANSION` times what is stored."""

    def __init__(self, content: gzip.GzipFile | bz2.BZ2File, stored: _CountingReader) -> None:
        self._content = content
        self._stored = stored
        self._held = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._content.read1(len(buffer))
        self._held += len(data)
        if self._held > max(_ALWAYS_ALLOWED, MAX_EXPANSION * self._stored.taken):
            raise OSError(f"holds more than {MAX_EXPANSION} times its size; if that is meant, bring it unpacked")
        buffer[: len(data)] = data
        return len(data)


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
        while data := self._stream.read(_BLOCK):
            self._digest.update(data)
        return self._digest.hexdigest()


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def stream_sha256(stream: _Readable) -> str:
    """The SHA-256 of what is left of a stream, in hexadecimal.

    Example:
      >>> import io
      >>> stream_sha256(io.BytesIO(b"abc"))[:8]
      'ba7816bf'
    """
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def input_digest(digests: Sequence[str]) -> str:
    """The digest of an input: its file's, or where there are several, one of all of them in their order.

    Args:
      digests: SHA-256 of each file, in hexadecimal.

    Example:
      >>> input_digest(["3a"]), input_digest(["3a", "3b"])[:8]
      ('3a', 'bd8c769d')
    """
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()
