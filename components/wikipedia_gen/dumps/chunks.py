"""Divides a dump file into pieces that are read in parallel."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from components.wikipedia_gen.dumps.chunk import Chunk
from components.wikipedia_gen.dumps.multistream_index import index_path, stream_offsets
from components.wikipedia_gen.dumps.opened import OpenFile, opened, opened_if_there
from components.wikipedia_gen.dumps.stream_starts import HEAD_BYTES, begins_stream, next_stream_start
from components.wikipedia_gen.dumps.unpacked_blocks import packing_of, size_of
from schemas.errors import DataError

CHUNK_BYTES: Final = 1 << 23
"""Of a file as it is stored: about a second's work where it is bzipped."""

LAST_BYTES: Final = 256
"""A plain file's last chunk has no fewer, so that it holds the file's closing tag as a whole."""


def dump_chunks(path: str, open_file: OpenFile, chunk_bytes: int = CHUNK_BYTES) -> list[Chunk]:
    """The pieces of a dump file, in its order.

    - plain: a piece every `chunk_bytes`.
    - bzipped, with the index of a multistream dump beside it: whole streams, as the index names them.
    - bzipped, without: whole streams, as they are found in the file, so that this too is one pass over it at most. A
      file of a single stream is one piece.
    - gzipped: one piece.

    Every page of the file belongs to one piece, whose reader goes on beyond its end if it must.

    Args:
      path: of the file.
      open_file: opens it, and its index.
      chunk_bytes: how long a piece is at least, but the last one, in bytes of the file as it is stored.

    Raises:
      DataError: the file is no dump, or the index belongs to another.

    Example:
      >>> import io
      >>> [(chunk.start, chunk.end) for chunk in dump_chunks("a.xml", lambda path, mode: io.BytesIO(b" " * 2500), 1000)]
      [(0, 1000), (1000, 2000), (2000, 2500)]
    """
    if chunk_bytes < 1:
        raise ValueError(f"chunk_bytes must be >= 1; got {chunk_bytes}.")
    with opened(path, open_file) as stream:
        packing, size = packing_of(stream, path), size_of(stream)
        starts: Iterable[int] = ()
        if packing == "plain":
            starts = range(chunk_bytes, size - LAST_BYTES, chunk_bytes)
        elif packing == "bz2":
            starts = _stream_groups(path, stream, size, open_file, chunk_bytes)
        bounds = [0, *starts, size]
    return [Chunk(path, packing, start, end, size) for start, end in pairwise(bounds)]


def _stream_groups(path: str, stream: Any, size: int, open_file: OpenFile, chunk_bytes: int) -> Iterator[int]:
    """Where each piece but the first begins."""
    if index := index_path(path):
        with opened_if_there(index, open_file) as there:
            has_index = there is not None
        if has_index:
            yield from _by_index(path, stream, size, index, open_file, chunk_bytes)
            return
    start: int | None = 0
    # TensorFlow's streams cannot be sought beyond their end.
    while start is not None and start + chunk_bytes < size:
        start = next_stream_start(stream, start + chunk_bytes)
        if start is not None:
            yield start


def _by_index(path: str, stream: Any, size: int, index: str, open_file: OpenFile, chunk_bytes: int) -> Iterator[int]:
    start = 0
    for offset in stream_offsets(index, open_file):
        if offset >= size:
            raise DataError(
                f"{path}: has {size:,} bytes, but its index {index} names byte {offset:,}. The dump is incomplete, or "
                "the index belongs to another: download both again."
            )
        if offset >= start + chunk_bytes:
            stream.seek(offset)
            if not begins_stream(stream.read(HEAD_BYTES)):
                raise DataError(
                    f"{path}: a bzip2 stream must begin at byte {offset:,}, which its index {index} names, and none "
                    "does. One of the two is damaged or belongs to another dump: download both again."
                )
            yield offset
            start = offset
