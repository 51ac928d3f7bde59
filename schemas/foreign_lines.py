"""Lines of a foreign text file, plain, gzipped or bzipped, within the bounds of our own."""

from collections.abc import Iterator
from typing import BinaryIO

from schemas.drops import Drop
from schemas.foreign_reason import ForeignReason
from schemas.wikiclir import Reason, excerpt_of, read_lines


def foreign_lines(stream: BinaryIO, file: str) -> Iterator[tuple[int, str] | Drop]:
    """Yields (line number, text) or a `Drop` for every line, in order.

    Args:
      stream: of the file's bytes.
      file: its name, for the drops.

    Example:
      >>> import io
      >>> [*foreign_lines(io.BytesIO(b"one\\r\\n\\xff\\n"), "f")][0]
      (1, 'one')
    """
    for item in read_lines(stream, file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            yield Drop(Reason.BAD_UTF8, file, number, excerpt_of(line))
            continue
        if "\x00" in text:
            yield Drop(Reason.NUL_BYTE, file, number, excerpt_of(text))
        elif not text.strip():
            yield Drop(ForeignReason.EMPTY_LINE, file, number, "")
        else:
            yield number, text
