"""The collection's manifest, the places of its lines, and the readers of its shards."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.collection import (
    InputFile,
    Role,
    Shard,
    manifest_text,
    parse_judgments,
    parse_manifest,
    read_raw_documents,
    read_texts,
)
from schemas.drops import Drop, Drops, ReadReport
from schemas.wikiclir import Judgment, Reason, Text

texts = st.text(st.characters(exclude_categories=["Cs"]))
counts = st.integers(0, 9)


@st.composite
def reports(draw) -> ReadReport:
    """Accounts that balance."""
    drops = tuple(
        Drops(reason, draw(counts), tuple(Drop(reason, *example) for example in draw(st.lists(examples, max_size=2))))
        for reason in draw(st.lists(st.sampled_from(Reason), unique=True, max_size=2))
    )
    used = draw(counts)
    return ReadReport(draw(texts), used + sum(dropped.count for dropped in drops), used, drops)


examples = st.tuples(texts, counts, texts)
roles = st.builds(
    Role,
    files=st.lists(st.builds(InputFile, texts, texts, counts)).map(tuple),
    shards=st.lists(st.builds(Shard, texts, counts, counts)).map(tuple),
    report=reports(),
)
NOTHING = ReadReport("", 0, 0, ())


@given(st.dictionaries(texts, roles, max_size=3))
def test_a_manifest_reads_back_the_same(manifest):
    assert parse_manifest(manifest_text(manifest)) == manifest


@given(st.lists(st.integers(0, 4)))
def test_every_line_of_a_role_has_one_place_in_its_files(lengths):
    role = Role(tuple(InputFile(f"file {n}", "", lines) for n, lines in enumerate(lengths)), (), NOTHING)
    assert [role.locate(line) for line in range(1, sum(lengths) + 1)] == [
        (f"file {n}", line) for n, lines in enumerate(lengths) for line in range(1, lines + 1)
    ]


@pytest.mark.parametrize("lengths", [[], [0], [2, 3]])
def test_a_line_beyond_the_last_file_has_no_place(lengths):
    role = Role(tuple(InputFile("a", "", lines) for lines in lengths), (), NOTHING)
    lines = sum(lengths)
    with pytest.raises(ValueError, match=f"line {lines + 1}"):
        role.locate(lines + 1)


FIELDS = ["", " ", '"', "\r", "a\u2028b", "é\u0085", "\ufefftext", "北京"]
TEXTS = [
    Text(f"d{n}", title, f"{text}x", 8 + n) for n, (title, text) in enumerate(zip(FIELDS, FIELDS[::-1], strict=True))
]
JUDGMENTS = [Judgment("q\u0085", f"d{n}", grade, "", 8 + n) for n, grade in enumerate([2, 0, 1])]


def stored(lines: list[str]) -> tuple[io.BytesIO, Shard]:
    """A shard that begins at line 7 of its role, with an empty line before the lines and one after them."""
    content = "".join(f"{line}\n" for line in ["", *lines, ""]).encode()
    return io.BytesIO(content), Shard("shard", 7, len(lines) + 2)


def test_texts_come_with_their_lines_and_empty_lines_hold_none():
    stream, shard = stored([f"{text.id}\t{text.title}\t{text.text}" for text in TEXTS])
    assert list(read_texts(stream, shard)) == TEXTS
    stream.seek(0)
    assert list(read_raw_documents(stream)) == [(text.id.encode(), text.text.encode()) for text in TEXTS]


@pytest.mark.parametrize("split", ["", "test"])
def test_judgments_come_with_their_lines_and_a_split_where_they_have_one(split):
    judgments = [judgment._replace(split=split) for judgment in JUDGMENTS]
    lines = [
        "\t".join([item.query_id, item.doc_id, str(item.grade), *([split] if split else [])]) for item in judgments
    ]
    stream, shard = stored(lines)
    assert list(parse_judgments(stream, shard.first_line)) == judgments
