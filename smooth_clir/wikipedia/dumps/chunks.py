"""Divides a dump file into chunks that are read in parallel."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.reading import (
    Packing,
    damaged,
    opened,
    opened_if_there,
    packing_of,
    size_of,
    unpacked_file,
)

CHUNK_BYTES: Final = 1 << 23
"""Size of a chunk in the stored file: about a second's work if the file is bzipped."""

LAST_BYTES: Final = 256
"""Smallest size of a plain file's last chunk, so that the closing tag is in one chunk."""

_INDEXED: Final = re.compile(r"(-multistream)(\d*)\.xml(-p\d+p\d+)?\.bz2$")

_HEAD: Final = re.compile(rb"BZh[1-9]1AY&SY")
"""The first bytes of a bzip2 stream: its magic number and level, and the magic number of its first block."""
_HEAD_BYTES: Final = 10
_FOOT: Final = 0x177245385090
"""The end of a stream's last block. A checksum of 32 bits follows, and up to seven bits that fill the last byte."""
_FOOT_BYTES: Final = 11
_BLOCK: Final = 1 << 20


class Chunk(NamedTuple):
    """The pages whose `<page>` is in a part of a file.

    Attributes:
      path: the file's path.
      packing: how the file is packed.
      start, end: the part, in bytes of the stored file. A page that begins in the part may end beyond it.
      size: the file's size in bytes.
    """

    path: str
    packing: Packing
    start: int
    end: int
    size: int

    @property
    def is_first(self) -> bool:
        """Whether the chunk has the file's header."""
        return self.start == 0

    @property
    def is_last(self) -> bool:
        """Whether the chunk has the file's end."""
        return self.end == self.size


def dump_chunks(path: str, chunk_bytes: int = CHUNK_BYTES) -> list[Chunk]:
    """Returns the chunks of a dump file, in order.

    - plain: a chunk every `chunk_bytes`.
    - bzipped, with the index of a multistream dump beside it: whole streams, as the index names them.
    - bzipped, without an index: whole streams, found in at most one pass over the file. A file of a single stream is
      a single chunk.
    - gzipped: a single chunk.

    Each page of the file belongs to exactly one chunk, whose reader reads beyond the chunk's end if necessary.

    Args:
      path: the file's path.
      chunk_bytes: smallest size of all chunks but the last, in bytes of the stored file.

    Raises:
      DataError: the file is not a dump, or the index belongs to another file.

    Example:
      >>> import tempfile
      >>> with tempfile.NamedTemporaryFile() as file:
      ...     _ = file.write(b" " * 2500), file.flush()
      ...     [(chunk.start, chunk.end) for chunk in dump_chunks(file.name, 1000)]
      [(0, 1000), (1000, 2000), (2000, 2500)]
    """
    if chunk_bytes < 1:
        raise ValueError(f"chunk_bytes must be >= 1; got {chunk_bytes}.")
    with opened(path) as stream:
        packing, size = packing_of(stream, path), size_of(stream)
        starts: Iterable[int] = ()
        if packing == "plain":
            starts = range(chunk_bytes, size - LAST_BYTES, chunk_bytes)
        elif packing == "bz2":
            starts = _stream_groups(path, stream, size, chunk_bytes)
        bounds = [0, *starts, size]
    return [Chunk(path, packing, start, end, size) for start, end in pairwise(bounds)]


def _stream_groups(path: str, stream: Any, size: int, chunk_bytes: int) -> Iterator[int]:
    """Yields the starts of a bzipped file's chunks, without the first."""
    if index := index_path(path):
        with opened_if_there(index) as index_stream:
            has_index = index_stream is not None
        if has_index:
            yield from _by_index(path, stream, size, index, chunk_bytes)
            return
    start: int | None = 0
    # TensorFlow's streams cannot seek beyond their end.
    while start is not None and start + chunk_bytes < size:
        start = next_stream_start(stream, start + chunk_bytes)
        if start is not None:
            yield start


def _by_index(path: str, stream: Any, size: int, index: str, chunk_bytes: int) -> Iterator[int]:
    start = 0
    for offset in stream_offsets(index):
        if offset >= size:
            raise DataError(
                f"{path} has {size:,} bytes, but its index {index} names byte {offset:,}. The dump is incomplete, or "
                "the index belongs to another dump: download both again."
            )
        if offset >= start + chunk_bytes:
            stream.seek(offset)
            if not _HEAD.fullmatch(stream.read(_HEAD_BYTES)):
                raise DataError(
                    f"{path}: no bzip2 stream begins at byte {offset:,}, which its index {index} names. One of the two "
                    "is damaged or belongs to another dump: download both again."
                )
            yield offset
            start = offset


def index_path(path: str) -> str | None:
    """Returns the path of a dump file's index; None unless the file's name is that of a multistream dump.

    Example:
      >>> index_path("enwiki-20240101-pages-articles-multistream1.xml-p1p41242.bz2")
      'enwiki-20240101-pages-articles-multistream-index1.txt-p1p41242.bz2'
      >>> index_path("enwiki-20240101-pages-articles.xml.bz2")
    """
    name, count = _INDEXED.subn(r"\1-index\2.txt\3.bz2", path)
    return name if count else None


def stream_offsets(path: str) -> Iterator[int]:
    """Yields the distinct bytes at which the dump's streams of pages begin, in order.

    Args:
      path: the index, a file of lines `offset:page id:title`.

    Raises:
      DataError: a line has no offset, or a lower offset than the line before.
    """
    last = -1
    before = b""
    unfinished = b""
    for block in unpacked_file(path):
        *lines, unfinished = (unfinished + block).split(b"\n")
        for line in lines:
            text = line[: line.find(b":")]
            if text == before:
                continue
            if not (text.isdigit() and len(text) < 19 and int(text) > last):
                raise damaged(
                    path, f"lines must be offset:page id:title, in rising order; got {line[:80]!r} after {last}"
                )
            before, last = text, int(text)
            yield last
    if unfinished:
        raise damaged(path, f"its last line must be complete; got {unfinished[:80]!r}")
    if last < 0:
        raise DataError(f"{path}: the index names no page; use the dump's own index, or none.")


def next_stream_start(stream: Any, offset: int) -> int | None:
    """Returns the first byte at or after an offset at which a bzip2 stream ends and another begins, or None.

    Searches for both magic numbers, 128 bits in all. A disk error is likelier than compressed content that holds them
    by chance. (Unpacking such content would find no end of a stream there, and fail.)

    Args:
      stream: the file.
      offset: the offset in bytes of the file.
    """
    offset = max(offset, _FOOT_BYTES)
    stream.seek(offset - _FOOT_BYTES)
    data, begin = b"", offset - _FOOT_BYTES
    while block := stream.read(_BLOCK):
        data += block
        for head in _HEAD.finditer(data, _FOOT_BYTES):
            if _ends_stream(data[head.start() - _FOOT_BYTES : head.start()]):
                return begin + head.start()
        # Keeps enough for a head that the next block completes, and for the foot before it.
        kept = min(len(data), _FOOT_BYTES + _HEAD_BYTES - 1)
        begin += len(data) - kept
        data = data[-kept:]
    return None


def _ends_stream(foot: bytes) -> bool:
    """Returns whether these are the last bytes of a stream, which may end at any bit of the last byte."""
    bits = int.from_bytes(foot, "big")
    return any(bits >> (32 + filled) & (1 << 48) - 1 == _FOOT for filled in range(8))
