"""The index that lies beside a multistream dump: where in it each page's stream begins."""

import re
from collections.abc import Iterator
from typing import Final

from components.wikipedia_gen.dumps.damaged import damaged
from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.unpacked_blocks import unpacked_file
from schemas.errors import DataError

_NAME: Final = re.compile(r"(-multistream)(\d*)\.xml(-p\d+p\d+)?\.bz2$")


def index_path(path: str) -> str | None:
    """What the index of a dump file is called; None where its name is that of no multistream dump.

    Example:
      >>> index_path("enwiki-20240101-pages-articles-multistream1.xml-p1p41242.bz2")
      'enwiki-20240101-pages-articles-multistream-index1.txt-p1p41242.bz2'
      >>> index_path("enwiki-20240101-pages-articles.xml.bz2")
    """
    name, count = _NAME.subn(r"\1-index\2.txt\3.bz2", path)
    return name if count else None


def stream_offsets(path: str, open_file: OpenFile) -> Iterator[int]:
    """The bytes of the dump at which its streams of pages begin, each once, in their order.

    Args:
      path: of the index, of lines `offset:page id:title`.
      open_file: opens it.

    Raises:
      DataError: a line has no offset, or a lower one than the line before.
    """
    last = -1
    before = b""
    rest = b""
    for block in unpacked_file(path, open_file):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            text = line[: line.find(b":")]
            if text == before:
                continue
            if not text.isdigit() or int(text) <= last:
                raise damaged(
                    path, f"lines must be offset:page id:title, in rising order; got {line[:80]!r} after {last}"
                )
            before, last = text, int(text)
            yield last
    if rest:
        raise damaged(path, f"its last line must be a whole one; got {rest[:80]!r}")
    if last < 0:
        raise DataError(f"{path}: the index names no page; take the one that belongs to the dump, or none.")
