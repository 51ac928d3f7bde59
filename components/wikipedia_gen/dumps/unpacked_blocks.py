"""What a compressed file holds, block by block, and no damage passed over.

Python's `bz2.open` takes what follows a bzip2 stream and is none for harmless padding, and ends. In a dump of many
streams that would be a silent loss of all pages behind a damaged byte, so that streams are unpacked here one by one.
"""

import bz2
import gzip
import zlib
from collections.abc import Generator, Iterator
from typing import Any, Final, Literal, TypeAlias

from components.wikipedia_gen.dumps.damaged import damaged
from components.wikipedia_gen.dumps.opened import OpenFile, opened
from schemas.errors import DataError

Packing: TypeAlias = Literal["plain", "gz", "bz2"]

_BLOCK: Final = 1 << 16
_BZIP2_BLOCK: Final = 1 << 20
"""More than bzip2 sorts at once: where unpacking stops in the midst of that and other work comes in between, the
processor's cache is filled twice, which costs a quarter of the time."""

_MAGIC: Final[dict[bytes, Packing]] = {b"\x1f\x8b": "gz", b"BZh": "bz2"}
_FOREIGN: Final = {b"7z\xbc\xaf": "7-Zip", b"\x28\xb5\x2f\xfd": "Zstandard", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}


def packing_of(stream: Any, path: str) -> Packing:
    """How a file is packed, by its first bytes: a name may be anything.

    Raises:
      DataError: the file is empty, or packed in a way that is not read here.
    """
    stream.seek(0)
    head = stream.read(8)
    if not head:
        raise damaged(path, "it is empty")
    for magic, name in _FOREIGN.items():
        if head.startswith(magic):
            raise DataError(
                f"{path}: a dump must be plain, gzipped or bzipped; this is {name}: take another or unpack."
            )
    return next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), "plain")


def unpacked_file(path: str, open_file: OpenFile) -> Generator[bytes, None, None]:
    """The blocks of a whole file.

    Raises:
      DataError: see `unpacked_blocks`.
    """
    with opened(path, open_file) as stream:
        packing = packing_of(stream, path)
        yield from unpacked_blocks(stream, path, packing, 0, size_of(stream))


def size_of(stream: Any) -> int:
    """The bytes of a file."""
    stream.seek(0, 2)  # TensorFlow's streams do not return the place
    return int(stream.tell())


def unpacked_blocks(stream: Any, path: str, packing: Packing, start: int, end: int) -> Iterator[bytes]:
    """The blocks of a part of a file, each of at most 1 MiB.

    Args:
      stream: of the file.
      path: its name, for errors.
      packing: of the file. One that is gzipped is read as a whole.
      start, end: the part, in bytes of the file. In one that is bzipped a stream begins at the first, and one ends
        at the second.

    Raises:
      DataError: the compression is broken or cut off, or the file is shorter than that.
    """
    if packing == "gz":
        return _gunzipped(stream, path)
    stored = _stored(stream, path, start, end)
    return _bunzipped(stored, path, end) if packing == "bz2" else stored


def _stored(stream: Any, path: str, start: int, end: int) -> Iterator[bytes]:
    stream.seek(start)
    while start < end:
        block = stream.read(min(_BLOCK, end - start))
        if not block:
            raise damaged(path, f"it ends at byte {start:,}, and had {end:,} bytes before")
        start += len(block)
        yield block


def _bunzipped(stored: Iterator[bytes], path: str, end: int) -> Iterator[bytes]:
    unpacker: bz2.BZ2Decompressor | None = None
    place = 0
    for data in stored:
        while data:
            if unpacker is None:
                unpacker = bz2.BZ2Decompressor()
            while True:
                try:
                    block = unpacker.decompress(data, _BZIP2_BLOCK)
                except OSError as error:
                    raise damaged(path, f"bzip2 cannot unpack it: {error}") from error
                data = b""
                if block:
                    place += len(block)
                    yield block
                if unpacker.eof or unpacker.needs_input:
                    break
            if unpacker.eof:
                data, unpacker = unpacker.unused_data, None
    if unpacker is not None:
        raise damaged(path, f"no bzip2 stream ends at byte {end:,}, {place:,} unpacked bytes on")


def _gunzipped(stream: Any, path: str) -> Iterator[bytes]:
    stream.seek(0)
    place = 0
    with gzip.GzipFile(fileobj=stream) as unpacker:
        while True:
            try:
                block = unpacker.read1(_BLOCK)
            except (OSError, EOFError, zlib.error) as error:
                raise damaged(path, f"gzip cannot unpack it beyond {place:,} unpacked bytes: {error}") from error
            if not block:
                return
            place += len(block)
            yield block
