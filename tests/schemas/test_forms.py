"""Other forms than our own: a record or a drop for every line, and headers that order the columns."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import forms, record_files
from schemas.columns import COLUMNS, text_columns
from schemas.drops import Drop, DropReason
from schemas.record_files import parse_ids, parse_role, parse_texts
from schemas.relevance import MAX_GRADE
from schemas.trec import RunLine, qrels_lines, run_lines
from schemas.wikiclir import MAX_LINE_BYTES, Judgment, QueryDomain, Reason, Text

FILE = "corpus.jsonl"


def parse(content: bytes | str, with_titles: bool = False, fields: Sequence[str] = ()) -> list[Text | Drop]:
    stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
    return [*parse_texts(stream, FILE, with_titles=with_titles, columns=text_columns(fields))]


# JSON lines


@pytest.mark.parametrize("key", COLUMNS["documents"].names["id"])
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


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (
            '{"_id": "d1", "text": "vit", "Lang": " fr ", "year": 2020}\n'
            '{"_id": "d2", "text": "vit", "lang": true, "year": 1.5}\n'
            '{"_id": "d3", "text": "vit", "lang": ["fr"], "year": null}\n'
            '{"_id": "d4", "text": "vit", "lang": "", "year": NaN}\n',
            [("d1", ("fr", "2020")), ("d2", ("true", "1.5")), ("d3", ("", "")), ("d4", ("", ""))],
        ),
        ("year,id,lang,text\n,d1,fr,vit\n7,d2,,vit\n", [("d1", ("fr", "")), ("d2", ("", "7"))]),
        ("id\ttext\tother\tlang\tyear\nd1\tvit\tx\tfr\t7\n", [("d1", ("fr", "7"))]),
    ],
    ids=["JSON lines", "CSV", "TSV"],
)
def test_further_columns_are_fields_where_they_are_named(
    content: str, texts: list[tuple[str, tuple[str, ...]]]
) -> None:
    records = parse(content, fields=["lang", "year"])
    kept = [item for item in records if isinstance(item, Text)]
    assert [(text.id, text.fields) for text in kept] == texts
    assert [text.fields for text in parse(content) if isinstance(text, Text)] == [()] * len(texts)


@pytest.mark.parametrize("content", ["id,text,lang\nd1,vit,fr\n", "d1\tLoup\tvit\n", "d1,vit\n"])
def test_a_header_must_name_the_fields(content: str) -> None:
    (drop,) = parse(content, fields=["lang", "year"])
    assert isinstance(drop, Drop)
    assert (drop.reason, "lang, year" in drop.excerpt) == (Reason.BAD_HEADER, True)
    assert parse("", fields=["lang"]) == []


def test_a_title_is_put_before_the_text_where_that_is_asked() -> None:
    content = '{"_id": "d1", "title": "Loup", "text": "vit"}\n{"_id": "d2", "title": "Chien", "text": ""}'
    assert parse(content, with_titles=True) == [Text("d1", "Loup", "Loup vit", 1), Text("d2", "Chien", "Chien", 2)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"_id": "d2", "text": "vit"', Reason.BAD_JSON),
        (b'["d2", "vit"]', Reason.BAD_JSON),
        (b"[" * 100_000, Reason.BAD_JSON),
        (b'{"_id": ' + b"9" * 100_000 + b', "text": "vit"}', Reason.BAD_JSON),
        *((b'{"text": "vit"}', Reason.NO_ID), (b'{"_id": null, "text": "vit"}', Reason.NO_ID)),
        (b'{"_id": true, "text": "vit"}', Reason.NO_ID),
        (b'{"_id": 1.5, "text": "vit"}', Reason.NO_ID),
        (b'{"_id": "d2", "title": "vit"}', Reason.NO_TEXT),
        (b'{"_id": "d2", "text": ["vit"]}', Reason.NO_TEXT),
        (b'{"_id": "d 2", "text": "vit"}', Reason.BAD_ID),
        (b'{"_id": "", "text": "vit"}', Reason.BAD_ID),
        (b'{"_id": "d1", "text": "again"}', Reason.DUPLICATE_ID),
        (b'{"_id": "d2", "text": " \\n\\t"}', Reason.EMPTY_TEXT),
        (b'{"_id": "d2", "text": "vit\\u0000"}', Reason.NUL_BYTE),
        (b'{"_id": "d2", "text": "\\ud83d"}', Reason.BAD_UTF8),
        (b'{"_id": "d2", "text": "\xff"}', Reason.BAD_UTF8),
        (b'{"_id": "d2", "text": "' + b"x" * MAX_LINE_BYTES + b'"}', Reason.LINE_TOO_LONG),
        (b" ", Reason.EMPTY_LINE),
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
    objects.map(lambda item: json.dumps(item).encode()) | st.binary(max_size=12).filter(lambda line: b"\n" not in line),
    max_size=6,
)


@given(lines, st.booleans())
def test_every_line_is_a_record_or_left_out_and_our_reader_takes_every_record(
    lines: list[bytes], with_titles: bool
) -> None:
    content = b"".join(line + b"\n" for line in [b'{"_id": "first", "text": "one"}', *lines, b"last"])
    items = parse(content, with_titles)
    assert [item.line for item in items] == [*range(1, len(lines) + 3)]
    for item in items:
        if isinstance(item, Text):
            line = f"{item.id}\t{item.title}\t{item.text}\n".encode()
            assert [*parse_texts(io.BytesIO(line), "ours")] == [item._replace(line=1)]


HEADER = "query-id\tcorpus-id\tscore\n"
ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp"]), min_size=1).filter(
    lambda name: not name.startswith(('{"', "{}"))  # a JSON object
)


def parse_judgments(content: str) -> list[Judgment | Drop]:
    return [*record_files.parse_judgments(io.BytesIO(content.encode()), "qrels", range(-9, MAX_GRADE + 1))]


@pytest.mark.parametrize("content", ["q1 0 d1 2\n", "q1\tQ0\td1\t2\n", " q1  0 d1\t2 \r\n", "q1\td1\t2\n", "q1 d1 2"])
def test_columns_are_trec_s_four_or_three_between_any_white_space(content: str) -> None:
    assert parse_judgments(content) == [Judgment("q1", "d1", 2, "", 1)]


@pytest.mark.parametrize("grade", ["-2", "+1", "007", "100", "1.0", "2.00"])
def test_a_grade_is_any_integer_up_to_100(grade: str) -> None:
    assert parse_judgments(f"q1 0 d1 {grade}") == [Judgment("q1", "d1", int(float(grade)), "", 1)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *(("q1 0 d1 1.5", Reason.BAD_GRADE), ("q1 0 d1 101", Reason.BAD_GRADE)),
        *((HEADER.strip(), Reason.FIELD_COUNT), ("q1 0 d1 ²", Reason.BAD_GRADE)),
        *(("q1 0 d1 " + "9" * 5000, Reason.BAD_GRADE), ("q1 d1 1", Reason.FIELD_COUNT)),
        *(("q1 0 d1 1 extra", Reason.FIELD_COUNT), (" ", Reason.EMPTY_LINE)),
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
        line for query_id, grades in judged.items() for line in qrels_lines(query_id, [*grades], [*grades.values()])
    )
    read: dict[str, dict[str, int]] = {}
    for item in parse_judgments(content):
        assert isinstance(item, Judgment)
        read.setdefault(item.query_id, {})[item.doc_id] = item.grade
    assert read == judged


@given(st.lists(st.text(max_size=12).filter(lambda line: "\n" not in line)))
def test_every_line_is_a_judgment_or_left_out(lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in [*lines, "last"])
    assert [item.line for item in parse_judgments(content)] == [*range(1, len(lines) + 2)]


def parse_run(content: str) -> list[RunLine | Drop]:
    return [*record_files.parse_run(io.BytesIO(content.encode()), "run.trec")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *(("q1 Q0 d1 1 2", Reason.FIELD_COUNT), ("q1\tQ0\td1\t1\t2", Reason.FIELD_COUNT)),
        *(("q1 Q0 d1 1 high bm25", Reason.BAD_SCORE), ("q1 Q0 d1 1 nan bm25", Reason.BAD_SCORE)),
        *(("q1 Q0 d1 1 -inf bm25", Reason.BAD_SCORE), ("", Reason.EMPTY_LINE)),
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
    assert parse_judgments("q1\u200b 0 \u200ed1 2") == [Judgment("q1", "d1", 2, "", 1)]
    assert parse_run("\ufeffq1 Q0 d1\u2060 1 2 bm25") == [RunLine("q1", "d1", 2.0, 1)]


# Headers

TEXT = Text("d1", "Titre", "le texte", 2)
UNTITLED = TEXT._replace(title="")
JUDGMENT = Judgment("q1", "d1", 1, "", 2)


@pytest.mark.parametrize(
    ("role", "content", "record"),
    [
        *(("documents", "id\ttext\ttitle\nd1\tle texte\tTitre\n", TEXT),  # DPR
          ("documents", "id\ttext\turl\nd1\tle texte\thttp://x\n", UNTITLED),
          ("documents", "url\ttitle\tText\tDoc ID\nx\tTitre\tle texte\td1\n", TEXT),
          ("queries", "query_id\tquery\tlang\nd1\tle texte\tfr\n", UNTITLED),
          ("queries", "lang,text,qid\nfr,le texte,d1\n", UNTITLED),
          ("documents", "\ufeffid;title;text\r\nd1;Titre;le texte\r\n", TEXT)),
        *(("judgments", "corpus-id\tquery-id\tscore\nd1\tq1\t1\n", JUDGMENT),
          ("judgments", "grade doc_id query_id\n1 d1 q1\n", JUDGMENT),
          ("judgments", "query_id iteration doc_id relevance\nq1 0 d1 1\n", JUDGMENT),
          ("judgments", "relevance,qid,docid\n1.0,q1,d1\n", JUDGMENT),
          ("candidates", "split\tquery_id\tdoc_id\tgrade\ntest\tq1\td1\t1\n", JUDGMENT._replace(split="test")),
          ("domains", "domain\tquery_id\nnews\tq1\n", QueryDomain("q1", "news", 2))),
    ],
)  # fmt: skip
def test_a_header_orders_the_columns(role: str, content: str, record: Text | Judgment | QueryDomain) -> None:
    header, first = parse_role(role, io.BytesIO(content.encode()), FILE, 2, set())
    assert isinstance(header, Drop) and header.reason is Reason.HEADER
    assert first == record


@pytest.mark.parametrize(
    ("role", "header", "expected"),
    [
        ("documents", "doc_id\ttitre\ttexte", "id, title (optional), text"),
        ("queries", "query_id,frage", "id, title (optional), text"),
        ("judgments", "query-id\tdocument\tnote", "query_id, doc_id, grade"),
        ("judgments", "docno\tgrade\tannotator", "query_id, doc_id, grade"),
        ("candidates", "query_id\tdoc_id\tgrade\tfold", "query_id, doc_id, grade, split"),
        ("domains", "query_id\trubrik", "query_id, domain"),
    ],
)
def test_a_header_that_lacks_a_column_ends_the_file_with_the_expected_names(
    role: str, header: str, expected: str
) -> None:
    (drop,) = parse_role(role, io.BytesIO(f"{header}\n1\t1\t1\n".encode()), FILE, 2, set())
    assert isinstance(drop, Drop) and (drop.reason, drop.line, drop.reason.is_fatal) == (Reason.BAD_HEADER, 1, True)
    assert expected in drop.excerpt and header.replace("\t", " | ") in drop.excerpt


@pytest.mark.parametrize("role", COLUMNS)
@given(data=st.data())
def test_columns_in_any_order_are_the_same_records(role: str, data: st.DataObject) -> None:
    """A header with the names of all columns, and others, in any order."""
    columns = COLUMNS[role].names
    values = {"grade": "1", "score": "1", "split": "test", "domain": "news"}
    names = {column: data.draw(st.sampled_from(known)) for column, known in columns.items()}
    order = data.draw(st.permutations([*columns, "other"]))
    separator = data.draw(st.sampled_from("\t,;"))
    header = separator.join(names.get(column, "nothing") for column in order)
    line = separator.join(values.get(column, f"x_{column}") for column in order)
    _, row = forms.read_rows(role, io.BytesIO(f"{header}\n{line}\n".encode()), FILE)
    assert not isinstance(row, Drop) and row[1] == [values.get(column, f"x_{column}") for column in columns]
    content = json.dumps(dict(zip(header.split(separator), line.split(separator), strict=True)))
    ((_, fields, _),) = forms.read_rows(role, io.BytesIO(content.encode()), FILE)
    assert fields == row[1]


# Quotes


@given(
    st.lists(st.tuples(ids, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1))),
    st.sampled_from(["\t", ",", ";"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.booleans(),
)
def test_what_the_library_writes_with_quotes_reads_back_on_one_line(
    records: list[tuple[str, str]], separator: str, quoting: int, with_header: bool
) -> None:
    kept = {identifier: text for identifier, text in records if text.strip()}
    content = io.StringIO(newline="")
    writer = csv.writer(content, delimiter=separator, quoting=quoting, lineterminator="\n")  # type: ignore[arg-type]
    writer.writerow(["id", "text"])
    writer.writerow(["first", 'a ""quoted"" text'])
    writer.writerows(kept.items())
    items = parse(content.getvalue())
    assert [item.line for item in items] == [*range(1, len(items) + 1)]
    texts = [item for item in items if isinstance(item, Text)]
    assert {text.id: text.text.split() for text in texts if text.id != "first"} == {
        identifier: text.split() for identifier, text in kept.items() if identifier != "first"
    }


def test_a_record_over_several_lines_keeps_the_numbers_of_the_others() -> None:
    _, record, *further, last = parse('id,text\nd1,"one\n\ntwo"\nd2,three\n')
    assert record == Text("d1", "", "one two", 2) and last == Text("d2", "", "three", 5)
    assert [(item.line, item.reason) for item in further if isinstance(item, Drop)] == [
        (3, Reason.CONTINUED), (4, Reason.CONTINUED),
    ]  # fmt: skip


@pytest.mark.parametrize("bad", ['d2,"open', 'd2,"a" b', 'd2,"a'])
def test_wrong_quotes_cost_one_line(bad: str) -> None:
    _, first, drop, *later = parse(f'id,text\nd1,one\n{bad}\nd3,three\nd4,"fo""ur"\n')
    assert isinstance(drop, Drop) and (drop.line, drop.reason) == (3, Reason.BAD_QUOTES)
    assert [first, *later] == [Text("d1", "", "one", 2), Text("d3", "", "three", 4), Text("d4", "", 'fo"ur', 5)]


@pytest.mark.parametrize(
    "lines",
    [
        ['d1\tT\t"Loup" vit en "meute"', 'd2\tT\t"seul', 'd3\t"T"\tun "" loup'],
        ['d1\tT\t"un loup"', 'd2\tT\t"deux loups"'],
        ['d1\tT\t"a ""b"" c"', 'd2\tT\t"Loup" vit'],
    ],
)
def test_quotes_of_plain_texts_are_text(lines: list[str]) -> None:
    assert [item[:3] for item in parse("\n".join(lines))] == [tuple(line.split("\t")) for line in lines]


def test_a_plain_text_with_commas_is_no_csv() -> None:
    items = parse("A wolf, which is grey\nWolves, dogs\nNo wolf, but a dog\nA dog, a cat and a wolf\n")
    assert {item.reason for item in items if isinstance(item, Drop)} == {Reason.FIELD_COUNT} and len(items) == 4


# JSON


@pytest.mark.parametrize("store", [str.encode, lambda text: gzip.compress(text.encode())])
@pytest.mark.parametrize("indent", [None, 2])
def test_an_entry_of_a_json_array_counts_as_a_line(store: Callable[[str], bytes], indent: int | None) -> None:
    entries = [{"id": "d1", "text": "un"}, ["d2"], {"id": 3, "contents": "trois\n", "title": "T"}]
    first, drop, last = parse(store(json.dumps(entries, indent=indent)))
    assert (first, last) == (Text("d1", "", "un", 1), Text("3", "T", "trois", 3))
    assert isinstance(drop, Drop) and (drop.line, drop.reason) == (2, Reason.BAD_JSON)


@pytest.mark.parametrize("content", ['[{"id": "d1", "text": "un"}', '[{"id": "d1"} {}]', "[", "[" + '{"a": ' * 100_000])
def test_a_broken_json_array_ends_the_file(content: str) -> None:
    (drop,) = parse(content)
    assert isinstance(drop, Drop) and drop.reason is Reason.BAD_ARRAY and drop.reason.is_fatal


@pytest.mark.parametrize(
    "content",
    [
        {"_id": None, "id": "d1", "text": None, "contents": "le texte", "title": "Titre"},
        {"id": "d1", "text": "", "body": "le texte", "title": "Titre"},
    ],
)
def test_an_empty_key_beside_a_filled_one_does_not_count(content: dict[str, object]) -> None:
    assert parse(json.dumps(content)) == [TEXT._replace(line=1)]


@pytest.mark.parametrize("grade", [1, 1.0, "1", "1.0"])
def test_a_judgment_may_be_an_object(grade: object) -> None:
    content = json.dumps({"query_id": "q1", "iteration": "0", "doc-id": "d1", "relevance": grade})
    assert parse_judgments(content) == [JUDGMENT._replace(line=1)]


@pytest.mark.parametrize("grade", [True, None, 1.5, [1], float("nan")])
def test_a_grade_that_is_no_whole_number_is_left_out(grade: object) -> None:
    (drop,) = parse_judgments(json.dumps({"query_id": "q1", "doc_id": "d1", "relevance": grade}))
    assert isinstance(drop, Drop) and drop.reason is Reason.BAD_GRADE


# The first lines


@pytest.mark.parametrize("bad", ["heading", "no\ttitle", "a,b", "\x00"])
@pytest.mark.parametrize(
    "lines", [["d1\tT\tun", "d2\tT\tdeux", "d3\tT\ttrois"], ["d1,T,un", "d2,T,deux", 'd3,T,"tro,is"']]
)
def test_a_bad_first_line_costs_one_record(bad: str, lines: list[str]) -> None:
    drop, *texts = parse("\n".join([bad, *lines]))
    assert isinstance(drop, Drop) and [text[0] for text in texts] == ["d1", "d2", "d3"]


@pytest.mark.parametrize(
    "content",
    ["d1\nd2\n", "d1\tT\tun\nd2\tT\tdeux\n", "title,doc_id\nT,d1\nT,d2\n", '{"_id": "d1"}\n{"_id": "d2"}\n',
     '[{"id": "d1"}, {"id": "d2"}]', "d1\r\n\r\nd2", "\ufeffd1\n\u200ed2"],
)  # fmt: skip
def test_ids_are_those_of_any_file_of_documents(content: str) -> None:
    items = [*parse_ids(io.BytesIO(content.encode()), FILE)]
    assert [item for item in items if not isinstance(item, Drop)] == ["d1", "d2"]
