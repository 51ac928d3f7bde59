"""Other layouts: a record or a drop for every line."""

import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schemas.foreign_files import (
    ID_KEYS,
    ForeignReason,
    RunLine,
    parse_foreign_judgments,
    parse_foreign_run,
    parse_foreign_texts,
)

from schemas.drops import Drop, DropReason
from schemas.trec import qrels_lines, run_lines
from schemas.wikiclir import MAX_LINE_BYTES, Judgment, Reason, Text, parse_texts

FILE = "corpus.jsonl"


def parse(content: bytes | str, with_titles: bool = False) -> list[Text | Drop]:
    stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
    return [*parse_foreign_texts(stream, FILE, with_titles)]


# JSON lines


@pytest.mark.parametrize("key", ID_KEYS)
def test_an_id_stands_under_any_of_the_usual_keys(key: str) -> None:
    assert parse(json.dumps({key: "d1", "title": "Loup", "text": "vit", "url": "x"})) == [Text("d1", "Loup", "vit", 1)]


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ('{"id": 7, "text": "one"}\n{"id": 8, "title": null, "text": "two"}\n', [("7", "", "one"), ("8", "", "two")]),
        (
            '{"_id": "d1", "title": "a\\tb", "text": "\\none\\r\\ntwo\\tthree\\rfour\\n"}',
            [("d1", "a b", "one two three four")],
        ),
        ("q1\tlives in packs\n", [("q1", "", "lives in packs")]),
        ("q1\tWolf\tlives in packs\r\n", [("q1", "Wolf", "lives in packs")]),
        ('{"docid": "d1", "title": "T", "text": "vit"}', [("d1", "T", "vit")]),  # MIRACL
        ('{"id": "d1", "contents": "vit"}', [("d1", "", "vit")]),  # Pyserini
        ('{"docid": "d1", "contents": "no", "text": "vit"}', [("d1", "", "vit")]),
        ('{"query_id": "d1", "query": "vit"}', [("d1", "", "vit")]),  # Mr. TyDi
        ('\ufeff{"_id": "\u200ed1", "text": "vit"}', [("d1", "", "vit")]),
        (gzip.compress(b'{"_id": "d1", "text": "vit"}'), [("d1", "", "vit")]),
    ],
)
def test_objects_and_columns_are_texts(content: bytes | str, texts: list[tuple[str, str, str]]) -> None:
    assert parse(content) == [Text(*text, line) for line, text in enumerate(texts, 1)]


def test_a_title_is_put_before_the_text_where_that_is_asked() -> None:
    content = '{"_id": "d1", "title": "Loup", "text": "vit"}\n{"_id": "d2", "title": "Chien", "text": ""}'
    assert parse(content, with_titles=True) == [Text("d1", "Loup", "Loup vit", 1), Text("d2", "Chien", "Chien", 2)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"_id": "d2", "text": "vit"', ForeignReason.BAD_JSON),
        (b'["d2", "vit"]', ForeignReason.BAD_JSON),
        (b"[" * 100_000, ForeignReason.BAD_JSON),
        (b'{"_id": ' + b"9" * 100_000 + b', "text": "vit"}', ForeignReason.BAD_JSON),
        *((b'{"text": "vit"}', ForeignReason.NO_ID), (b'{"_id": null, "text": "vit"}', ForeignReason.NO_ID)),
        (b'{"_id": true, "text": "vit"}', ForeignReason.NO_ID),
        (b'{"_id": 1.5, "text": "vit"}', ForeignReason.NO_ID),
        (b'{"_id": "d2", "title": "vit"}', ForeignReason.NO_TEXT),
        (b'{"_id": "d2", "text": ["vit"]}', ForeignReason.NO_TEXT),
        (b'{"_id": "d 2", "text": "vit"}', Reason.BAD_ID),
        (b'{"_id": "", "text": "vit"}', Reason.BAD_ID),
        (b'{"_id": "d2", "text": " \\n\\t"}', Reason.EMPTY_TEXT),
        (b'{"_id": "d2", "text": "vit\\u0000"}', Reason.NUL_BYTE),
        (b'{"_id": "d2", "text": "\\ud83d"}', Reason.BAD_UTF8),
        (b'{"_id": "d2", "text": "\xff"}', Reason.BAD_UTF8),
        (b'{"_id": "d2", "text": "' + b"x" * MAX_LINE_BYTES + b'"}', Reason.LINE_TOO_LONG),
        (b" ", ForeignReason.EMPTY_LINE),
    ],
    ids=lambda value: value.name if isinstance(value, DropReason) else repr(value[:30]),
)
def test_an_object_that_cannot_be_used_is_left_out_with_its_line(line: bytes, reason: DropReason) -> None:
    first, second = parse(b'{"_id": "d1", "text": "vit"}\n' + line + b"\n")
    assert isinstance(first, Text) and isinstance(second, Drop)
    assert (second.file, second.line, second.reason) == (FILE, 2, reason)


# TSV


@pytest.mark.parametrize("line", ["q2\ttitle\ttext", "q2", "q2\ta\tb\tc"])
def test_the_first_line_with_columns_determines_their_number(line: str) -> None:
    empty, heading, text, bad = parse(f"\nheading\nq1\tlives in packs\n{line}\n")
    assert [type(item) for item in (empty, heading, text, bad)] == [Drop, Drop, Text, Drop]
    assert isinstance(bad, Drop) and bad.reason is Reason.FIELD_COUNT


# Laws

anything = st.text(max_size=8) | st.sampled_from(["d1", " ", "\t", "\n", "\r", "\x00", "\ufeff", "\ud800", "\x85"])
values = anything | st.none() | st.booleans() | st.integers() | st.floats() | st.lists(anything, max_size=1)
objects = st.dictionaries(st.sampled_from(["_id", "id", "title", "text", "other"]), values)
lines = st.lists(
    objects.map(lambda one: json.dumps(one).encode()) | st.binary(max_size=12).filter(lambda one: b"\n" not in one),
    max_size=6,
)


@given(lines, st.booleans())
def test_every_line_is_a_record_or_left_out_and_our_reader_takes_every_record(
    found: list[bytes], with_titles: bool
) -> None:
    content = b"".join(line + b"\n" for line in [b'{"_id": "first", "text": "one"}', *found, b"last"])
    items = parse(content, with_titles)
    assert [item.line for item in items] == [*range(1, len(found) + 3)]
    for item in items:
        if isinstance(item, Text):
            line = f"{item.id}\t{item.title}\t{item.text}\n".encode()
            assert [*parse_texts(io.BytesIO(line), "ours")] == [item._replace(line=1)]


HEADER = "query-id\tcorpus-id\tscore\n"
ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp"]), min_size=1)


def parse_judgments(content: str) -> list[Judgment | Drop]:
    return [*parse_foreign_judgments(io.BytesIO(content.encode()), "qrels", "test")]


@pytest.mark.parametrize("content", ["q1 0 d1 2\n", "q1\tQ0\td1\t2\n", " q1  0 d1\t2 \r\n", "q1\td1\t2\n", "q1 d1 2"])
def test_columns_are_trec_s_four_or_three_between_any_white_space(content: str) -> None:
    assert parse_judgments(content) == [Judgment("q1", "d1", 2, "test", 1)]


@pytest.mark.parametrize("grade", ["-2", "+1", "007", "100"])
def test_a_grade_is_any_integer_up_to_100(grade: str) -> None:
    assert parse_judgments(f"q1 0 d1 {grade}") == [Judgment("q1", "d1", int(grade), "test", 1)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *(("q1 0 d1 1.0", ForeignReason.BAD_GRADE), ("q1 0 d1 101", ForeignReason.BAD_GRADE)),
        *((HEADER.strip(), ForeignReason.JUDGMENT_FIELDS), ("q1 0 d1 ²", ForeignReason.BAD_GRADE)),
        *(("q1 0 d1 " + "9" * 5000, ForeignReason.BAD_GRADE), ("q1 d1 1", ForeignReason.JUDGMENT_FIELDS)),
        *(("q1 0 d1 1 extra", ForeignReason.JUDGMENT_FIELDS), (" ", ForeignReason.EMPTY_LINE)),
        ("q1 0 d1 1\x00", Reason.NUL_BYTE),
    ],
)
def test_a_judgment_that_cannot_be_used_is_left_out_with_its_line(line: str, reason: DropReason) -> None:
    first, second = parse_judgments(f"q0 0 d0 1\n{line}\n")
    assert isinstance(first, Judgment) and isinstance(second, Drop)
    assert (second.reason, second.line) == (reason, 2)


@pytest.mark.parametrize("line", ["q 1\td1\t1", "\td1\t1"])
def test_an_id_of_beir_s_holds_no_white_space_and_is_not_empty(line: str) -> None:
    assert [item.reason for item in parse_judgments(f"{HEADER}{line}\n") if isinstance(item, Drop)][1:] == [
        Reason.BAD_ID
    ]


@given(st.dictionaries(ids, st.dictionaries(ids, st.integers(-9, 100), min_size=1), min_size=1))
def test_qrels_that_we_write_read_back_the_same(judged: dict[str, dict[str, int]]) -> None:
    content = "".join(
        line for one, grades in judged.items() for line in qrels_lines(one, [*grades], [*grades.values()])
    )
    found: dict[str, dict[str, int]] = {}
    for item in parse_judgments(content):
        assert isinstance(item, Judgment)
        found.setdefault(item.query_id, {})[item.doc_id] = item.grade
    assert found == judged


@given(st.lists(st.text(max_size=12).filter(lambda line: "\n" not in line)))
def test_every_line_is_a_judgment_or_left_out(lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in [*lines, "last"])
    assert [item.line for item in parse_judgments(content)] == [*range(1, len(lines) + 2)]


def parse_run(content: str) -> list[RunLine | Drop]:
    return [*parse_foreign_run(io.BytesIO(content.encode()), "run.trec")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *(("q1 Q0 d1 1 2", ForeignReason.RUN_FIELDS), ("q1\tQ0\td1\t1\t2", ForeignReason.RUN_FIELDS)),
        *(("q1 Q0 d1 1 high bm25", ForeignReason.BAD_SCORE), ("q1 Q0 d1 1 nan bm25", ForeignReason.BAD_SCORE)),
        *(("q1 Q0 d1 1 -inf bm25", ForeignReason.BAD_SCORE), ("", ForeignReason.EMPTY_LINE)),
    ],
)
def test_a_line_that_cannot_be_used_is_left_out_alone(line: str, reason: DropReason) -> None:
    lines = [*run_lines("q1", ["d1", "d2"], [2.5, -1.25], "bm25")]
    first, second, third = parse_run(f"{lines[0]}{line}\n{lines[1]}")
    assert (first, third) == (RunLine("q1", "d1", 2.5, 1), RunLine("q1", "d2", -1.25, 3))
    assert isinstance(second, Drop) and (second.reason, second.line) == (reason, 2)


def test_a_header_is_named_and_is_no_bad_line() -> None:
    for header, record in (
        parse_judgments(f"{HEADER}q1\td1\t1\n"),
        parse_run("query_id Q0 doc_id rank score tag\nq1 Q0 d1 1 2 bm25\n"),
        parse("query_id\ttext\nq1\ttext\n"),
    ):
        assert isinstance(header, Drop) and not isinstance(record, Drop)
        assert (header.reason, header.reason.bad) == (Reason.HEADER, False)


def test_marks_that_nobody_sees_are_no_part_of_an_id() -> None:
    assert parse_judgments("q1\u200b 0 \u200ed1 2") == [Judgment("q1", "d1", 2, "test", 1)]
    assert parse_run("\ufeffq1 Q0 d1\u2060 1 2 bm25") == [RunLine("q1", "d1", 2.0, 1)]
