"""wikipedia/dumps/read_pages.py: each page is read or left out for a reason, once, however the file is divided."""

import bz2
import gzip
import re
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.drops import Drop
from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.chunks import LAST_BYTES, Chunk, dump_chunks
from smooth_clir.wikipedia.dumps.page_parser import MAX_TAG_BYTES, MAX_TEXT_BYTES, Page, PageParser, PageReason
from smooth_clir.wikipedia.dumps.read_pages import read_pages
from tests.memory_files import in_memory
from tests.wikipedia.dumps.dump_files import (
    END,
    dump,
    header,
    multistream,
    page,
    raw_page,
    raw_revision,
    revision,
)

PATH = "enwiki-20240101-pages-articles-multistream.xml.bz2"
INDEX = "enwiki-20240101-pages-articles-multistream-index.txt.bz2"


def read(content: bytes, chunk_bytes: int = 1 << 30, index: bytes | None = None) -> list[Page | Drop]:
    """Reads the pages of a dump, chunk by chunk."""
    with in_memory({PATH: content} | ({INDEX: index} if index else {})):
        return [item for chunk in dump_chunks(PATH, chunk_bytes) for item in read_pages(chunk)]


def only(*pages: str) -> Page | Drop:
    (item,) = read(dump(*pages))
    return item


def reason_of(content: str) -> PageReason:
    """Returns why a page is left out; a page before and one after it are not."""
    before, item, after = read(dump(page(1, "A", "a"), content, page(3, "C", "c")))
    assert isinstance(before, Page) and isinstance(item, Drop) and isinstance(after, Page)
    assert isinstance(item.reason, PageReason)
    return item.reason


# One page


SLOT = (
    "      <content>\n        <role>mediainfo</role>\n        <origin>70</origin>\n        <model>wikibase</model>\n"
    '        <format>application/json</format>\n        <text bytes="2">{}</text>\n      </content>\n'
)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        *(
            (revision(text), text)
            for text in ("A '''wolf''' & a <ref name=\"x\">dog</ref>.\n\n== See ==\n", "'),(1,0,'x")
        ),
        (revision("old") + revision("{}", "json") + revision("new"), "new"),
        (revision("main", slots=SLOT), "main"),
        (raw_revision('<text bytes="9"><![CDATA[[[a]]<page>&amp;]]> &amp; b</text>'), "[[a]]<page>&amp; & b"),
        (raw_revision('<text bytes="9">&#233;&#x1F43A; &amp;nbsp; &quot;</text>'), 'é🐺 &nbsp; "'),
    ],
    ids=["wikitext", "SQL", "revisions", "slots", "CDATA", "references"],
)
def test_a_page_has_the_text_of_its_last_revision(written: str, text: str) -> None:
    assert only(raw_page(7, "Wolf & <dog>", written)) == Page(7, "Wolf & <dog>", None, text)


def test_redirects_are_pages_that_say_where_they_lead_and_a_chain_is_not_followed() -> None:
    links = {"Wolves": "Grey wolves", "Grey wolves": '"Wolf"', "Loop": "Loop"}
    items = read(dump(*(page(1, title, f"#REDIRECT [[{link}#x]]", redirect=link) for title, link in links.items())))
    assert {item.title: item.redirect for item in items if isinstance(item, Page)} == links


@pytest.mark.parametrize("title", ["'),(1,0,'x", 'A "quoted" title', "2001: A Space Odyssey", "狼", "ذئب\u200f"])
def test_titles_may_hold_anything(title: str) -> None:
    assert only(page(1, title, "text")) == Page(1, title, None, "text")


def test_older_and_newer_dumps_and_those_of_windows_are_read() -> None:
    whole = read(dump(page(1, "A", "one\ntwo")))
    old = page(1, "A", "one\ntwo").replace("      <origin>70</origin>\n", "").replace('sha1="x" ', "")
    assert read(dump(old, version="0.10")) == whole
    new = "    <new><title>no</title><text>no</text></new>\n<revision>"
    new = page(1, "A", "one\ntwo").replace("    <revision>", new)
    assert read(dump(new, "  <logitem><id>4</id></logitem>\n")) == whole
    assert read(b"\xef\xbb\xbf" + dump(page(1, "A", "one\ntwo")).replace(b"\n", b"\r\n")) == whole


# Pages left out


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        (page(2, "Talk:Wolf", "text", namespace=1), PageReason.OTHER_NAMESPACE),
        (page(2, "Media:x", "text", namespace=-2), PageReason.OTHER_NAMESPACE),
        (raw_page(2, "A.css", revision("b {}", "sanitized-css")), PageReason.OTHER_MODEL),
        (raw_page(2, "A", raw_revision('<text bytes="9" deleted="deleted" />')), PageReason.TEXT_DELETED),
        (raw_page(2, "A", raw_revision('<text bytes="0" xml:space="preserve" />')), PageReason.TEXT_EMPTY),
        (raw_page(2, "A", raw_revision("<text></text>")), PageReason.TEXT_EMPTY),
        (raw_page(2, "A", raw_revision('<text id="70" bytes="94" />')), PageReason.TEXT_MISSING),
        (raw_page(2, "A", raw_revision("")), PageReason.TEXT_EMPTY),
        (raw_page(2, "A", ""), PageReason.NO_REVISION),
        (raw_page(2, "A", revision("old") + revision("{}", "json")), PageReason.OTHER_MODEL),
        (raw_page(2, "A", revision("old") + raw_revision('<text bytes="0" />')), PageReason.TEXT_EMPTY),
        (page(2, "", "text"), PageReason.MALFORMED),
        (page(2, "A", "text").replace("<id>2</id>", ""), PageReason.MALFORMED),
        (page(2, "A", "text").replace("<id>2</id>", "<id>two</id>"), PageReason.MALFORMED),
        (page(2, "A", "text").replace("<ns>0</ns>", "<ns></ns>"), PageReason.MALFORMED),
        ("  <page />\n", PageReason.MALFORMED),
    ],
)
def test_a_page_that_cannot_be_used_is_left_out_for_a_reason(left_out: str, reason: PageReason) -> None:
    assert reason_of(left_out) is reason


def test_a_drop_names_the_page_so_that_it_is_the_same_for_any_packing() -> None:
    assert only(page(12, "Talk:A\tb", "text", namespace=1)) == Drop(PageReason.OTHER_NAMESPACE, PATH, 12, "Talk:A | b")


@pytest.mark.parametrize("escaped", [b"x", b"&amp;"])
@pytest.mark.parametrize("beyond", [0, 1])
def test_the_longest_text_is_measured_as_it_stands_in_the_file(escaped: bytes, beyond: int) -> None:
    tag = '<text xml:space="preserve">'
    count = (MAX_TEXT_BYTES - len(tag)) // len(escaped) + beyond
    long = raw_page(1, "A", raw_revision(f"{tag}{'%' * count}</text>"))
    item, after = read(dump(long, page(2, "B", "b")).replace(b"%", escaped))
    assert getattr(item, "reason", None) is (PageReason.TEXT_TOO_LONG if beyond else None)
    assert after == Page(2, "B", None, "b")


def test_a_long_page_is_not_held_in_memory() -> None:
    content = gzip.compress(dump(page(1, "Long", "x" * (1 << 25))), 1)
    tracemalloc.start()
    read(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MAX_TEXT_BYTES


# Damage

THREE = [page(1, "A", "a" * 900), page(2, "B", "b" * 900), page(3, "C", "c" * 900)]
GOOD = dump(*THREE)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (GOOD[:-13], r"</mediawiki>.* page 3 \(C\)"),
        (GOOD[:-100], r"</mediawiki>.* page 2 \(B\)"),
        (GOOD.replace(b"bbb</text>", b"bbb"), "mismatched tag"),
        (GOOD.replace(b"bbb</text>", b"&nbsp;</text>"), rf"byte {GOOD.index(b'bbb<'):,}, .* page 1 \(A\)"),
        (GOOD.replace(b"bbb</text>", b"\x00</text>"), "invalid token"),
        (GOOD.replace(b"bbb</text>", b"\xff</text>"), "invalid token"),
        (GOOD + GOOD, "junk"),
        (GOOD.replace(b"mediawiki", b"media"), "<media>"),
    ],
)
def test_damaged_xml_is_an_error_that_says_where(content: bytes, value: str) -> None:
    with pytest.raises(DataError, match=f"(?s)^{PATH}: .*{value}"):
        read(content)


def test_the_place_in_a_packed_file_is_in_what_a_part_of_it_unpacks_to() -> None:
    content, index = multistream([*THREE, THREE[0].replace("aaa", "&lt;&nbsp;")], 1)
    start = content.rindex(b"BZh9", 0, content.rindex(b"BZh9"))
    with pytest.raises(DataError, match=rf"byte \d+ of what its bytes {start:,} to [0-9,]+ unpack"):
        read(content, 1, index)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gz", "bz2"])
@pytest.mark.parametrize("open_and_close", [("<!-- ", "-->"), ("<a b='", "'/>"), ("<?a ", "?>"), ("<", "/>")])
def test_a_tag_or_comment_of_many_megabytes_is_refused_as_soon_as_it_is_too_long(
    open_and_close: tuple[str, str], pack: Callable[[bytes], bytes]
) -> None:
    begin, end = open_and_close
    content = dump(page(1, "A", "a"), f"{begin}{'x' * (2 * MAX_TAG_BYTES)}{end}", page(2, "B", "b"))
    offset = content.index(f"{begin}xxx".encode())
    with pytest.raises(DataError, match=f"1,048,576 .* byte {offset:,}.* page 1"):
        read(pack(content))


def test_what_is_not_one_long_tag_is_read() -> None:
    parser = PageParser(PATH, 0, "", has_root=True)
    parser.feed(b"<mediawiki> <pag")
    # The rest of a large block behind the last page of a chunk.
    parser.feed(b"e>" + b"x" * MAX_TAG_BYTES, end=len("<mediawiki> "))
    assert parser.beyond == len("<mediawiki> ")
    content = dump(page(1, "A", "a"), f"<!-- {'x' * (MAX_TAG_BYTES // 2)} -->", page(2, "B", "b"))
    assert [item.title for item in read(content) if isinstance(item, Page)] == ["A", "B"]


BOMB = b"<!DOCTYPE m [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>"
OUTSIDE = b"<!DOCTYPE m [<!ENTITY secret SYSTEM 'file:///etc/passwd'>]>"
REMOTE = b"<!DOCTYPE m SYSTEM 'http://example.org/m.dtd'>"


@pytest.mark.parametrize("prolog", [BOMB, OUTSIDE, REMOTE], ids=["bomb", "file", "address"])
def test_a_document_type_and_so_any_entity_is_refused(prolog: bytes) -> None:
    for chunk_bytes in (1000, 1 << 30):
        with pytest.raises(DataError, match=r"<!DOCTYPE m at byte \d"):
            read(prolog + dump(*THREE).replace(b"bbb", b"&c;&secret;"), chunk_bytes)


@pytest.mark.parametrize("keep", [0.3, 0.5, 0.999])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gz", "bz2"])
def test_a_truncated_file_and_a_flipped_bit_are_errors(pack: Callable[[bytes], bytes], keep: float) -> None:
    content = pack(GOOD)
    end = int(keep * len(content))
    for damaged in (content[:end], content[:end] + bytes([content[end] ^ 4]) + content[end + 1 :]):
        with pytest.raises(DataError, match=PATH):
            read(damaged)


def test_a_damaged_or_lost_stream_amid_others_is_an_error() -> None:
    content, index = multistream([page(number, f"T{number}", "x") for number in range(1, 9)], 2)
    start = content.index(b"BZh9", content.index(b"BZh9", 4) + 4)
    with pytest.raises(DataError, match="bzip2"):
        read(content[:start] + b"???" + content[start + 3 :], index=index)
    for chunk_bytes in (1, 1 << 30):
        with pytest.raises(DataError, match="</mediawiki>"):
            read(content[: content.rindex(b"BZh9")], chunk_bytes)


def test_a_file_that_was_cut_since_it_was_divided_is_an_error() -> None:
    with in_memory({PATH: GOOD[:2000]}), pytest.raises(DataError, match="byte 2,000"):
        [*read_pages(Chunk(PATH, "plain", 0, len(GOOD), len(GOOD)))]


# Pieces

MANY = [
    page(1, "First <page>", "escaped <page> and </page>\n" * 20),
    page(2, "Talk:x", "left out <page>", namespace=1),
    page(3, "Empty", ""),
    page(4, "狼", "狼は<ref>哺乳類</ref>" * 50),
    page(5, "Redirect", "#REDIRECT [[x]]", redirect="x"),
    raw_page(6, "Slots", revision("old") + revision("new")),
    raw_page(7, "Gone", raw_revision('<text bytes="9" deleted="deleted" />')),
    page(8, "Long", "word " * 3000),
    *(page(number, f"Page {number}", f"text {number}") for number in range(9, 30)),
]
WHOLE = read(dump(*MANY))


def test_in_one_go_every_page_is_there() -> None:
    assert [item.page_id if isinstance(item, Page) else item.line for item in WHOLE] == [*range(1, 30)]
    assert read(f"{header()}{END}".encode()) == []


@pytest.mark.parametrize("chunk_bytes", [97, 100, 101, 997, 5000, 40_000, 1 << 30])
def test_the_pieces_of_a_file_have_all_pages_once(chunk_bytes: int) -> None:
    content = dump(*MANY)
    assert read(content, chunk_bytes) == read(gzip.compress(content), chunk_bytes) == WHOLE


def test_a_piece_may_end_at_any_byte() -> None:
    content = dump(page(1, "A", "<page>"), page(2, "B", "b"), page(3, "Talk:C", "c", namespace=1))
    whole, size = read(content), len(content)
    # Each byte of a page's tags, and every seventh of the others.
    tags = {tag.start() + byte for tag in re.finditer(b"</?page>", content) for byte in range(8)}
    for cut in sorted({*tags, *range(1, size, 7)}):
        if cut < size - LAST_BYTES:
            chunks = Chunk(PATH, "plain", 0, cut, size), Chunk(PATH, "plain", cut, size, size)
            with in_memory({PATH: content}):
                assert [item for chunk in chunks for item in read_pages(chunk)] == whole


@pytest.mark.parametrize("in_stream", [1, 4, 100])
@pytest.mark.parametrize("chunk_bytes", [1, 300, 1000, 1 << 30])
@pytest.mark.parametrize("has_index", [True, False])
def test_the_pieces_of_a_multistream_dump_have_all_pages_once(
    in_stream: int, chunk_bytes: int, has_index: bool
) -> None:
    content, index = multistream(MANY, in_stream)
    assert read(content, chunk_bytes, index if has_index else None) == WHOLE


@pytest.mark.parametrize("length", [50, 333, 5000])
def test_streams_that_end_within_pages_as_parallel_compressors_write_them_have_all_pages_once(length: int) -> None:
    plain = dump(*MANY)
    content = b"".join(bz2.compress(plain[start : start + length]) for start in range(0, len(plain), length))
    with in_memory({PATH: content}):
        assert len(dump_chunks(PATH, 1)) > 5
    for chunk_bytes in (1, 700, 1 << 30):
        assert read(content, chunk_bytes) == WHOLE


def test_a_page_tag_in_a_cdata_section_that_a_piece_divides_is_an_error_and_no_page() -> None:
    text = f'<text bytes="9"><![CDATA[{"x" * 2000}\n  <page>\n]]></text>'
    content = dump(raw_page(1, "A", raw_revision(text)), page(2, "B", "b" * 400))
    assert len(read(content)) == 2
    with pytest.raises(DataError, match="<page> at byte"):
        read(content, 2000)


texts = st.text(st.sampled_from("<>&;/ \npage[]'\"x狼\U0001f43a"), max_size=60)


@given(st.lists(st.tuples(texts, st.sampled_from([0, 0, 1])), max_size=12), st.integers(1, 3000), st.integers(1, 4))
def test_pieces_of_any_length_have_the_pages_of_the_whole(
    pages: list[tuple[str, int]], chunk_bytes: int, in_stream: int
) -> None:
    written = [page(number, f"T{number}", text, namespace) for number, (text, namespace) in enumerate(pages, start=1)]
    whole = read(dump(*written))
    assert len(whole) == len(pages)
    assert [item.text for item in whole if isinstance(item, Page)] == [text for text, ns in pages if text and not ns]
    assert read(dump(*written), chunk_bytes) == whole
    if written:
        content, index = multistream(written, in_stream)
        assert read(content, chunk_bytes) == whole
        assert read(content, chunk_bytes, index) == whole
