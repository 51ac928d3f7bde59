"""Reads the pages of a chunk of a dump."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from schemas.drops import Drop
from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.chunks import Chunk
from smooth_clir.wikipedia.dumps.page_parser import Page, PageParser
from smooth_clir.wikipedia.dumps.reading import damaged, opened, unpacked_blocks

_PAGE: Final = re.compile(rb"<page[\s>]")
_TAG: Final = b"<page"
_ROOT_END: Final = b"</mediawiki>"
_TAIL_BYTES: Final = 256


def read_pages(chunk: Chunk) -> Iterator[Page | Drop]:
    """Yields a `Page` or a `Drop` for each page whose `<page>` is in a chunk, in the file's order.

    The chunks of a file have each of its pages once. Memory holds the pages of 1 MiB and a text of at most
    `MAX_TEXT_BYTES`. A drop's line is the page's id and its excerpt the title, which do not depend on how the file is
    packed or divided.

    Args:
      chunk: a chunk from `dump_chunks`.

    Raises:
      DataError: the file is damaged or incomplete, or its XML has a document type. The pages before are yielded first.
    """
    with opened(chunk.path) as stream:
        yield from pages_in(stream, chunk)


def pages_in(stream: Any, chunk: Chunk) -> Iterator[Page | Drop]:
    """Yields the same as `read_pages`, from the chunk's open file."""
    open_chunk = _OpenChunk(chunk, stream)
    yield from _pages(open_chunk)
    yield from _pages_beyond(open_chunk)


class _OpenChunk:
    """A chunk while it is read. Offsets are in bytes of the file if it is plain, otherwise in unpacked bytes."""

    def __init__(self, chunk: Chunk, stream: Any) -> None:
        self.chunk = chunk
        self.end = chunk.start if chunk.packing == "plain" else 0  # the end of the unpacked bytes
        self.tail = b""
        self.within = (
            "" if chunk.packing == "plain" else f" of what its bytes {chunk.start:,} to {chunk.end:,} unpack to"
        )
        # None until the first page begins.
        self.parser = PageParser(chunk.path, self.end, self.within, True) if chunk.is_first else None
        self._stream = stream

    def blocks(self) -> Iterator[bytes]:
        return self._read(self.chunk.start, self.chunk.end)

    def blocks_beyond(self) -> Iterator[bytes]:
        """Yields the content that follows the chunk in the file."""
        return iter(()) if self.chunk.is_last else self._read(self.chunk.end, self.chunk.size)

    def _read(self, start: int, end: int) -> Iterator[bytes]:
        for block in unpacked_blocks(self._stream, self.chunk.path, self.chunk.packing, start, end):
            self.end += len(block)
            self.tail = (self.tail + block[-_TAIL_BYTES:])[-_TAIL_BYTES:]
            yield block

    def begin(self, data: bytes) -> PageParser:
        """Makes a parser for the last unpacked bytes, which start with a `<page>`."""
        self.parser = PageParser(self.chunk.path, self.end - len(data), self.within, False)
        return self.parser


def _pages(open_chunk: _OpenChunk) -> Iterator[Page | Drop]:
    """Yields the pages that end within a chunk."""
    seam = b""
    for block in open_chunk.blocks():
        parser = open_chunk.parser
        if parser is None:
            data = seam + block
            match = _PAGE.search(data)
            if not match:
                seam = data[-len(_TAG) :]
                continue
            block = data[match.start() :]
            parser = open_chunk.begin(block)
        parser.feed(block)
        yield from parser.take()


def _pages_beyond(open_chunk: _OpenChunk) -> Iterator[Page | Drop]:
    """Yields the page that the chunk's end divides, if any, and checks that nothing is missing."""
    end = open_chunk.end
    blocks = open_chunk.blocks_beyond()
    if open_chunk.parser is None:
        blocks = _after_divided_tag(open_chunk, blocks)
    parser = open_chunk.parser
    if parser is None:
        if open_chunk.chunk.is_last and not open_chunk.tail.rstrip().endswith(_ROOT_END):
            raise damaged(open_chunk.chunk.path, "the XML does not end with </mediawiki>")
        return
    shown: int | None = None
    seam = b""
    offset = end
    is_over = open_chunk.chunk.is_last
    while parser.beyond is None and (parser.in_page or parser.in_tag) and not is_over:
        block = next(blocks, b"")
        if shown is None and (match := _PAGE.search(seam + block)):
            shown = offset - len(seam) + match.start()
        seam = (seam + block)[-len(_TAG) :]
        offset += len(block)
        parser.feed(block, end)
        yield from parser.take()
        is_over = not block
    if shown != parser.beyond:
        raise DataError(
            f"{open_chunk.chunk.path}: a comment or CDATA section holds <page> at byte {shown:,}{open_chunk.within}, "
            "so that the file cannot be divided. Read it as a single chunk, as long as the file."
        )
    if is_over:
        parser.check_end()
    elif parser.beyond is None and parser.in_root:
        parser.feed(_ROOT_END)
        parser.check_end()
    yield from parser.take()


def _after_divided_tag(open_chunk: _OpenChunk, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Returns the blocks after a chunk; begins a parser if the chunk's end divides a `<page>` tag."""
    begun = open_chunk.tail[max(open_chunk.tail.rfind(b"<"), 0) :]
    if not begun or not _TAG.startswith(begun):
        return blocks
    tag = begun
    while len(tag) <= len(_TAG) and (block := next(blocks, b"")):
        tag += block
    if not _PAGE.match(tag):
        return iter(())
    open_chunk.begin(tag).feed(begun)
    return chain([tag[len(begun) :]], blocks)
