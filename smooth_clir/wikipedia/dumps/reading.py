"""Opens, unpacks and parses files that may be damaged or hostile.

Python's `bz2.open` ends silently at a damaged byte between two bzip2 streams. In a dump of many streams this would lose
all later pages, so each stream is unpacked by itself.
"""

import bz2
import errno
import gzip
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, NoReturn, TypeAlias
from xml.parsers import expat

from schemas import file_system
from schemas.errors import DataError

Packing: TypeAlias = Literal["plain", "gz", "bz2"]

_BLOCK: Final = 1 << 16
_BZIP2_BLOCK: Final = 1 << 20
"""More than bzip2 sorts at once. Smaller blocks would interrupt the sort, which fills the processor's cache twice and
costs a quarter of the time."""

_MAGIC: Final[dict[bytes, Packing]] = {b"\x1f\x8b": "gz", b"BZh": "bz2"}
_FOREIGN: Final = {b"7z\xbc\xaf": "7-Zip", b"\x28\xb5\x2f\xfd": "Zstandard", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}


def damaged(path: str, fault: str) -> DataError:
    """Returns the error of a dump file that differs from the published one.

    Example:
      >>> str(damaged("a.xml.gz", "it ends at byte 7"))
      'a.xml.gz: it ends at byte 7. The file is damaged or incomplete: download it again and compare its checksum.'
    """
    return DataError(f"{path}: {fault}. The file is damaged or incomplete: download it again and compare its checksum.")


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Opens a file to read its bytes.

    Raises:
      DataError: the file cannot be opened.
    """
    with opened_if_there(path) as stream:
        if stream is None:
            raise DataError(f"{path} does not exist; name an existing file.")
        yield stream


@contextmanager
def opened_if_there(path: str) -> Iterator[Any]:
    """Opens a file to read its bytes; gives None if it does not exist.

    Raises:
      DataError: the file exists and cannot be opened.
    """
    try:
        stream = file_system.open_file(path, "rb")
    except OSError as error:
        # No file has a name that is too long.
        if not isinstance(error, FileNotFoundError) and error.errno != errno.ENAMETOOLONG:
            raise DataError(f"Cannot read {path}: {error.strerror or error}.") from error
        stream = None
    if stream is None:
        yield None
    else:
        with stream:
            yield stream


def packing_of(stream: Any, path: str) -> Packing:
    """Returns how a file is packed. Its first bytes decide, because its name may be anything.

    Raises:
      DataError: the file is empty, or packed in an unsupported way.
    """
    stream.seek(0)
    head = stream.read(8)
    if not head:
        raise damaged(path, "it is empty")
    for magic, name in _FOREIGN.items():
        if head.startswith(magic):
            raise DataError(
                f"{path}: a dump must be plain, gzipped or bzipped; got {name}. Unpack it, or take another file."
            )
    return next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), "plain")


def size_of(stream: Any) -> int:
    """Returns the size of a file in bytes."""
    stream.seek(0, 2)  # TensorFlow's streams do not return the position
    return int(stream.tell())


def unpacked_file(path: str) -> Generator[bytes, None, None]:
    """Yields the unpacked blocks of a whole file; raises like `unpacked_blocks`."""
    with opened(path) as stream:
        packing = packing_of(stream, path)
        yield from unpacked_blocks(stream, path, packing, 0, size_of(stream))


def unpacked_blocks(stream: Any, path: str, packing: Packing, start: int, end: int) -> Iterator[bytes]:
    """Returns the unpacked blocks of a part of a file, each of at most 1 MiB.

    Args:
      stream: the file.
      path: the file's name, for errors.
      packing: how the file is packed; a gzipped file is read as a whole.
      start, end: the part, in bytes of the file; in a bzipped file, the start and the end of streams.

    Raises:
      DataError: the compression is broken or cut off, or the file ends before `end`.
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
            raise damaged(path, f"it ends at byte {start:,}, but had {end:,} bytes before")
        start += len(block)
        yield block


def _bunzipped(stored: Iterator[bytes], path: str, end: int) -> Iterator[bytes]:
    unpacker: bz2.BZ2Decompressor | None = None
    unpacked = 0
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
                    unpacked += len(block)
                    yield block
                if unpacker.eof or unpacker.needs_input:
                    break
            if unpacker.eof:
                data, unpacker = unpacker.unused_data, None
    if unpacker is not None:
        raise damaged(path, f"no bzip2 stream ends at byte {end:,}, {unpacked:,} unpacked bytes on")


def _gunzipped(stream: Any, path: str) -> Iterator[bytes]:
    stream.seek(0)
    unpacked = 0
    with gzip.GzipFile(fileobj=stream) as unpacker:
        while True:
            try:
                block = unpacker.read1(_BLOCK)
            except (OSError, EOFError, zlib.error) as error:
                raise damaged(path, f"gzip cannot unpack it beyond {unpacked:,} unpacked bytes: {error}") from error
            if not block:
                return
            unpacked += len(block)
            yield block


def safe_parser(path: str) -> expat.XMLParserType:
    """Returns an expat parser of UTF-8 that refuses a document type.

    A dump has no document type. Without it, a file cannot declare entities, which could unfold to gigabytes, or read a
    local file or an address.

    Args:
      path: the file's name, for errors. `Parse` raises DataError at a <!DOCTYPE> and at an encoding other than UTF-8.
    """
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    # From version 2.6 expat may defer a block, but callers ask after each block what has been read.
    if hasattr(parser, "SetReparseDeferralEnabled"):
        parser.SetReparseDeferralEnabled(False)

    def refuse(name: str, *_: Any) -> NoReturn:
        offset = parser.CurrentByteIndex
        raise DataError(
            f"{path}: a dump must have no document type; got <!DOCTYPE {name} at byte {offset:,}. Take the file as "
            "Wikimedia publishes it."
        )

    def check_encoding(version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.lower() not in ("utf-8", "utf8"):
            raise DataError(
                f"{path}: a dump must be in UTF-8; got {encoding}. Take the file as Wikimedia publishes it."
            )

    parser.StartDoctypeDeclHandler = refuse
    parser.XmlDeclHandler = check_encoding
    return parser
