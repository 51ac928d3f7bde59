"""Files in our own form: what is kept, what is dropped and why, and that no line is lost silently."""

import gzip
import io
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import byte_streams, wikiclir
from schemas.drops import Drop
from schemas.record_files import parse_role, parse_texts
from schemas.wikiclir import Judgment, Reason, Text

FILE = "fr.documents"
TOP_GRADE = 2
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp"]), min_size=1)
fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\x00"))
# A carriage return at the end of a line belongs to the line end.
texts = fields.filter(lambda text: text.strip() and not text.endswith("\r"))
# Bytes that mean something to a parser, mostly; and any others.
blobs = st.one_of(
    st.lists(
        st.sampled_from(
            [b"\t", b"\t", b"\n", b"\n", b"\r\n", b"1", b"2", b"x", b" ", b"test", b"\x00", b"\xff", BYTE_ORDER_MARK]
        )
    ).map(b"".join),
    st.binary(),
).filter(lambda blob: not blob.startswith(b"\x1f\x8b"))

KINDS = ("documents", "judgments", "candidates")


def parse(content: bytes, kind: str = "documents", top_grade: int = TOP_GRADE) -> list[Text | Judgment | Drop]:
    return list(parse_role(kind, io.BytesIO(content), FILE, top_grade, set()))


def line_count(content: bytes) -> int:
    """The lines of a file without blank ones at its end."""
    lines = content.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    while lines and not lines[-1].removesuffix(b"\r"):
        lines.pop()
    return len(lines)


@given(st.lists(st.tuples(ids, fields, texts), unique_by=lambda record: record[0]))
def test_written_texts_read_back_the_same(records):
    content = "".join(f"{identifier}\t{title}\t{text}\n" for identifier, title, text in records)
    assert parse(content.encode()) == [Text(*record, line) for line, record in enumerate(records, 1)]


@given(st.lists(st.tuples(ids, ids, st.integers(0, TOP_GRADE), st.sampled_from(["train", "eval", "test"]))))
def test_written_judgments_and_candidates_read_back_the_same(records):
    for kind, width in (("judgments", 3), ("candidates", 4)):
        rows = [record[:width] for record in records]
        content = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        expected = [Judgment(*(*row, "")[:4], line) for line, row in enumerate(rows, 1)]
        assert parse(content.encode(), kind) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *((line, Reason.FIELD_COUNT) for line in (b"7\ttitle", b"7\ttitle\ttext\tmore")),
        *((line, Reason.EMPTY_LINE) for line in (b"", b" \t")),
        (b"7\ttitle\tte\xffxt", Reason.BAD_UTF8),
        (b"7\ttitle\tte\x00xt", Reason.NUL_BYTE),
        *((id_.encode() + b"\ttitle\ttext", Reason.BAD_ID) for id_ in ("", " ", "7 7", "7\u20287")),
        *((b"7\ttitle\t" + text.encode(), Reason.EMPTY_TEXT) for text in ("", " \u00a0")),
        (b"1\tanother title\tanother text", Reason.DUPLICATE_ID),
    ],
)
def test_a_broken_line_costs_one_record(line, reason):
    first, drop, last = parse(b"1\ta\tb\n" + line + b"\n2\tc\td\n")
    assert (first, last) == (Text("1", "a", "b", 1), Text("2", "c", "d", 3))
    assert (drop.reason, drop.file, drop.line) == (reason, FILE, 2)


@pytest.mark.parametrize(
    ("kind", "lines", "reason"),
    [
        ("judgments", [f"1\t2\t{grade}" for grade in ("-1", "3", "2.5", "²", "２", "", "1e0", "1_0", "1" * 5000)],
         Reason.BAD_GRADE),
        ("judgments", ["1\t\t2", "1 1\t2\t2"], Reason.BAD_ID),
        ("judgments", ["1\t2\t2\ttrain"], Reason.FIELD_COUNT),
        ("candidates", ["1\t2\t3\ttrain"], Reason.BAD_GRADE),
        ("candidates", [f"1\t2\t2\t{split}" for split in ("dev", "", "Train")], Reason.BAD_SPLIT),
        ("candidates", ["1\t2\t2"], Reason.FIELD_COUNT),
    ],
)  # fmt: skip
def test_a_broken_judgment_costs_one_record(kind, lines, reason):
    ending, split = ("\ttest", "test") if kind == "candidates" else ("", "")
    good = f"1\t2\t1{ending}\n"
    first, *drops, judgment = parse((good + "\n".join([*lines, good])).encode(), kind)
    assert [(drop.reason, drop.file, drop.line) for drop in drops] == [
        (reason, FILE, line) for line in range(2, len(lines) + 2)
    ]
    assert (first, judgment) == (Judgment("1", "2", 1, split, 1), Judgment("1", "2", 1, split, len(lines) + 2))


@pytest.mark.parametrize("top_grade", [1, 2, 3])
def test_grades_go_up_to_the_top_grade(top_grade):
    content = b"".join(b"1\t%d\t%d\n" % (grade, grade) for grade in range(5))
    items = parse(content, "judgments", top_grade)
    assert [item.grade for item in items if isinstance(item, Judgment)] == list(range(top_grade + 1))


@pytest.mark.parametrize(("following", "records"), [(b"", []), (b"\n3\te\tf", [Text("3", "e", "f", 3)])])
def test_a_line_that_is_too_long_costs_one_record(monkeypatch, following, records):
    monkeypatch.setattr(wikiclir, "MAX_LINE_BYTES", 16)
    first, drop, *later = parse(b"1\ta\tb\n2\tc\t" + b"long" * 20 + following)
    assert (first, later) == (Text("1", "a", "b", 1), records)
    assert (drop.reason, drop.line) == (Reason.LINE_TOO_LONG, 2)
    assert drop.excerpt == "2 | c | " + "long" * 3 + "l"  # the limit and the one byte that broke it


@pytest.mark.parametrize(
    "content",
    [
        BYTE_ORDER_MARK + b"1\ta\tb\r\n2\tc\td\r\n",
        b"1\ta\tb\n2\tc\td",
        # A later member of a gzip file.
        b"".join(gzip.compress(BYTE_ORDER_MARK + line) for line in (b"1\ta\tb\n", b"2\tc\td\n")),
    ],
)
def test_windows_line_ends_a_byte_order_mark_and_a_missing_line_end_are_no_content(content):
    assert parse(content) == [Text("1", "a", "b", 1), Text("2", "c", "d", 2)]


@pytest.mark.parametrize("mark", ["\ufeff", "\u200b", "\u200d", "\u200e", "\u202b", "\u2060", "\u2068", "\u00ad"])
def test_marks_that_nobody_sees_are_no_part_of_an_id_and_stay_in_texts(mark):
    assert parse(f"1\ta\tb\n{mark}2{mark}\t{mark}c\td{mark}\n".encode())[1] == Text("2", f"{mark}c", f"d{mark}", 2)
    assert parse(f"{mark}1\t2{mark}\t1\n".encode(), "judgments") == [Judgment("1", "2", 1, "", 1)]


def test_ids_that_look_alike_are_one():
    _, drop = parse("1\ta\tb\n\u200e1\tc\td\n".encode())
    assert drop.reason is Reason.DUPLICATE_ID


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        *(("documents", "doc_id\ttitle\ttext"), ("documents", "ID\tTitle\tContents")),
        *(("documents", '"docno"\t"title"\t"text"'), ("judgments", "query-id\tcorpus-id\tscore")),
        *(("judgments", "query_id\tdoc_id\tgrade"), ("candidates", "qid\tdocid\trelevance\tsplit")),
    ],
)
def test_a_header_is_named_and_is_no_bad_record(kind, header):
    first, *later = parse(f"{header}\n{header}\n".encode(), kind)
    assert (first.reason, first.line, first.reason.bad) == (Reason.HEADER, 1, False)
    assert Reason.HEADER not in [getattr(item, "reason", None) for item in later]  # only the first line can be


@pytest.mark.parametrize("line", ["id\ttitle\ta text", '1\t"a\t"b ""c', "d1\ttitle\ttext", "ida\ttitle\ttext"])
def test_a_record_like_a_header_is_a_record(line):
    assert parse(line.encode()) == [Text(*line.split("\t"), 1)]


@pytest.mark.parametrize("end", [b"\n", b"\n\n", b"\r\n\r\n", b"\r\n\n\r"])
def test_blank_lines_at_the_end_are_no_records_and_others_are_left_out(end):
    assert parse(b"1\ta\tb\n" + end) == [Text("1", "a", "b", 1)]
    _, *blank, last = parse(b"1\ta\tb\n" + end + b"\n2\tc\td\n" + end)
    assert last == Text("2", "c", "d", 2 + len(blank))
    assert len(blank) == (end + b"\n").count(b"\n")
    assert {drop.reason for drop in blank} == {Reason.EMPTY_LINE}


@pytest.mark.parametrize("character", ["\u0085", "\u2028", "\u2029", "\u00a0", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_newline_ends_a_line(character):
    assert parse(f"1\ta{character}b\tc{character}d\n".encode()) == [Text("1", f"a{character}b", f"c{character}d", 1)]


@pytest.mark.parametrize("name", ["fr.documents", "fr.documents.gz"])
def test_gzip_is_recognised_by_its_magic_number(name):
    content = b"1\ta\tb\n2\tc\td\n"
    for stored in [content, gzip.compress(content), gzip.compress(content[:8]) + gzip.compress(content[8:])]:
        assert list(parse_texts(io.BytesIO(stored), name)) == parse(content)


def test_a_broken_gzip_file_gives_the_records_before_the_break():
    # Digests hardly compress, so that the middle of the compressed file is the middle of the texts.
    content = "".join(f"{line}\ttitle\t{sha256(b'%d' % line).hexdigest()}\n" for line in range(1, 3001)).encode()
    whole, half, stored = parse(content), 1500, gzip.compress(content)
    middle = len(stored) // 2
    for broken, min_records in {
        stored[:middle]: half - 300,
        stored[:middle] + b"\xff" * 100 + stored[middle + 100 :]: half - 300,
        stored[:-8] + b"\x00" * 8: 3000,
        stored + b"no gzip": 3000,
        stored[:2]: 0,
    }.items():
        *records, drop = parse(broken)
        assert (drop.reason, drop.line) == (Reason.UNREADABLE, len(records) + 1)
        assert records[:min_records] == whole[:min_records]
        assert not any(isinstance(record, Drop) and record.reason is Reason.UNREADABLE for record in records)


@pytest.mark.parametrize("line", [b"1\ta\t" + b"b" * 1000 + b"\n", b"b"])
def test_a_gzip_bomb_is_not_read_on(monkeypatch, line):
    monkeypatch.setattr(wikiclir, "MAX_LINE_BYTES", 1 << 16)
    monkeypatch.setattr(byte_streams, "_ALWAYS_ALLOWED", 1 << 16)
    monkeypatch.setattr(byte_streams, "_BUFFER", 1 << 13)  # what is read ahead, whatever it holds
    piece = gzip.compress(line * ((1 << 20) // len(line)))
    stream = io.BytesIO(1000 * piece)
    *_, drop = parse_texts(stream, FILE)
    assert drop.reason is Reason.UNREADABLE
    assert stream.tell() < 400 * len(piece)  # Python's gzip reads up to 128 KiB ahead


def test_a_small_gzip_file_may_grow_as_it_likes():
    content = b"".join(b"%d\ta\tb\n" % line for line in range(100)) + b"100\ta\t" + b"b" * (1 << 20) + b"\n"
    assert len(content) > byte_streams.MAX_EXPANSION * len(gzip.compress(content))
    assert parse(gzip.compress(content)) == parse(content)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("longest", [5, wikiclir.MAX_LINE_BYTES])
@given(blob=blobs, store=st.sampled_from([bytes, gzip.compress]))
def test_every_line_is_one_record_or_one_drop(kind, longest, store, blob):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wikiclir, "MAX_LINE_BYTES", longest)
        lines = [item.line for item in parse(store(blob), kind)]
    assert lines == list(range(1, line_count(blob) + 1))


@given(blobs.map(lambda blob: b"\x1f\x8b" + blob))
def test_a_file_that_pretends_to_be_gzip_is_unreadable(blob):
    assert [item.reason for item in parse(blob)] == [Reason.UNREADABLE]


@pytest.mark.parametrize("store", [bytes, gzip.compress])
def test_a_stream_stays_open_for_the_one_who_opened_it(store):
    with io.BytesIO(store(b"1\ta\tb\n")) as stream:
        assert len(list(parse_texts(stream, FILE))) == 1
        assert not stream.closed


def test_an_excerpt_is_short_shows_the_tabs_and_is_readable():
    _, long, bad_utf8, nul = parse(b"3\tc\td\n7\ttitle " + b"x" * 200 + b"\n1\ta\t\xff\n2\tb\t\x00\n")
    assert long.excerpt == "7 | title ".ljust(wikiclir.EXCERPT_CHARACTERS, "x") + "…"
    assert (bad_utf8.excerpt, nul.excerpt) == ("1 | a | \ufffd", "2 | b | \ufffd")
