"""wikipedia/dumps/chunks.py: where a dump is divided. test_read_pages.py shows that no page is lost."""

import bz2
import gzip
from itertools import pairwise

import pytest

from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.chunks import (
    LAST_BYTES,
    Chunk,
    dump_chunks,
    index_path,
    next_stream_start,
    stream_offsets,
)
from tests.memory_files import MemoryFile, in_memory
from tests.wikipedia.dumps.dump_files import dump, multistream, page

PATH = "enwiki-20240101-pages-articles-multistream.xml.bz2"
INDEX = "enwiki-20240101-pages-articles-multistream-index.txt.bz2"
PAGES = [page(number, f"Title {number}", f"text {number} " * 40) for number in range(1, 41)]
CONTENT, INDEX_CONTENT = multistream(PAGES, 4)
STARTS = [offset for offset in range(len(CONTENT)) if CONTENT.startswith(b"BZh91AY&SY", offset)]


def chunks_of(content: bytes, chunk_bytes: int, index: bytes | None = None) -> list[Chunk]:
    with in_memory({PATH: content} | ({INDEX: index} if index else {})):
        return dump_chunks(PATH, chunk_bytes)


def starts(chunks: list[Chunk]) -> list[int]:
    """Checks that the chunks are the whole file; returns where they start."""
    assert chunks[0].is_first and chunks[-1].is_last
    assert all(first.end == second.start for first, second in pairwise(chunks))
    assert {chunk.size for chunk in chunks} == {chunks[-1].end}
    return [chunk.start for chunk in chunks]


def test_a_plain_file_is_divided_by_bytes_and_its_last_piece_is_no_sliver() -> None:
    content = dump(*PAGES)
    bounds = starts(chunks_of(content, 1000))
    assert bounds == [*range(0, len(content) - LAST_BYTES, 1000)]


@pytest.mark.parametrize("index", [INDEX_CONTENT, None], ids=["index", "no index"])
def test_a_multistream_dump_is_divided_at_its_streams(index: bytes | None) -> None:
    bounds = starts(chunks_of(CONTENT, 1, index))
    # The footer's stream is named in no index.
    assert bounds == (STARTS[:-1] if index else STARTS)
    sizes = [end - start for start, end in pairwise(starts(chunks_of(CONTENT, 900, index)))]
    assert all(900 <= size for size in sizes) and len(sizes) >= 2


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress])
def test_a_file_of_one_stream_is_one_piece(pack) -> None:
    assert len(chunks_of(pack(dump(*PAGES)), 1)) == 1


# Streams without an index


@pytest.mark.parametrize("after", [b"", b"\x00", b"x" * 200])
def test_what_looks_like_a_stream_after_what_is_no_end_of_one_is_none(after: bytes) -> None:
    stored = b"".join([bz2.compress(b"one"), after, b"BZh91AY&SY", b"two" * 50])
    start = next_stream_start(MemoryFile(stored), 1)
    assert start == (None if after else len(bz2.compress(b"one")))


def test_a_stream_is_found_wherever_blocks_of_the_search_meet(monkeypatch) -> None:
    for block in (1, 7, 10, 11, 21, 1000):
        monkeypatch.setattr("smooth_clir.wikipedia.dumps.chunks._BLOCK", block)
        assert starts(chunks_of(CONTENT, 1)) == STARTS


def test_streams_may_end_at_any_bit() -> None:
    content = b"".join(bz2.compress(b"x" * length, level) for length in range(40) for level in (1, 9))
    heads = [offset for offset in range(len(content)) if content[offset : offset + 10].endswith(b"1AY&SY")]
    stream = MemoryFile(content)
    assert [next_stream_start(stream, offset) for offset in heads if offset] == [offset for offset in heads if offset]


# The index


def test_the_index_of_a_numbered_part_has_its_number_and_pages() -> None:
    name = "d/enwiki-20240101-pages-articles-multistream{}27.{}-p1p9.bz2"
    assert index_path(name.format("", "xml")) == name.format("-index", "txt")
    assert (index_path(PATH), index_path("enwiki-20240101-pages-articles27.xml-p1p9.bz2")) == (INDEX, None)
    index = gzip.compress("600:10:2001: A Space Odyssey\n600:12::x\n712:25:狼:\n".encode())
    with in_memory({"index": index}):
        assert [*stream_offsets("index")] == [600, 712]


@pytest.mark.parametrize(
    ("index", "value"),
    [
        ("9" * 5000 + ":1:A\n", "b'9999"),
        (f"{STARTS[1]}:1:A\n5:2:B\n", f"b'5:2:B' after {STARTS[1]}"),
        *(("Title\n", "Title"), ("600:1:A", INDEX), ("", INDEX), (INDEX_CONTENT[:-9], INDEX)),
        *((f"{len(CONTENT)}:1:A\n", INDEX), (f"{STARTS[1] + 1}:1:A\n", INDEX)),
    ],
)
def test_an_index_that_does_not_fit_is_an_error(index: bytes | str, value: str) -> None:
    with pytest.raises(DataError) as error:
        chunks_of(CONTENT, 1, index if isinstance(index, bytes) else bz2.compress(index.encode()))
    assert value in str(error.value)
