"""schemas/foreign_judgments.py: judgments in TREC's columns and in BEIR's."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.drops import Drop, DropReason
from schemas.foreign_judgments import parse_foreign_judgments
from schemas.foreign_reason import ForeignReason
from schemas.trec import qrels_lines
from schemas.wikiclir import Judgment, Reason

HEADER = "query-id\tcorpus-id\tscore\n"
ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="\ufeff"), min_size=1)


def parse(content: str) -> list[Judgment | Drop]:
    return [*parse_foreign_judgments(io.BytesIO(content.encode()), "qrels", "test")]


@pytest.mark.parametrize("content", ["q1 0 d1 2\n", "q1\tQ0\td1\t2\n", " q1  0 d1\t2 \r\n", "q1\td1\t2\n", "q1 d1 2"])
def test_columns_are_trec_s_four_or_three_between_any_white_space(content: str) -> None:
    assert parse(content) == [Judgment("q1", "d1", 2, "test", 1)]


def test_beir_s_header_is_no_judgment_and_no_fault() -> None:
    header, judgment = parse(f"{HEADER}q1\td1\t1\n")
    assert isinstance(header, Drop)
    assert header.reason is ForeignReason.HEADER and not header.reason.bad
    assert judgment == Judgment("q1", "d1", 1, "test", 2)


def test_a_header_further_down_is_a_fault() -> None:
    judgment, header = parse(f"q1\td1\t1\n{HEADER}")
    assert isinstance(judgment, Judgment) and isinstance(header, Drop)
    assert header.reason is ForeignReason.BAD_GRADE


@pytest.mark.parametrize(("grade", "value"), [("-2", -2), ("+1", 1), ("007", 7), ("100", 100)])
def test_a_grade_is_any_integer_up_to_100(grade: str, value: int) -> None:
    assert parse(f"q1 0 d1 {grade}") == [Judgment("q1", "d1", value, "test", 1)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 0 d1 1.0", ForeignReason.BAD_GRADE),
        ("q1 0 d1 101", ForeignReason.BAD_GRADE),
        ("q1 0 d1 ²", ForeignReason.BAD_GRADE),
        ("q1 0 d1 " + "9" * 5000, ForeignReason.BAD_GRADE),
        ("q1 d1 1", Reason.FIELD_COUNT),
        ("q1 0 d1 1 extra", Reason.FIELD_COUNT),
        ("", ForeignReason.EMPTY_LINE),
        ("q1 0 d1 1\x00", Reason.NUL_BYTE),
    ],
)
def test_a_judgment_that_cannot_be_used_is_left_out_with_its_line(line: str, reason: DropReason) -> None:
    first, second = parse(f"q0 0 d0 1\n{line}\n")
    assert isinstance(first, Judgment) and isinstance(second, Drop)
    assert (second.reason, second.line) == (reason, 2)


@pytest.mark.parametrize("line", ["q 1\td1\t1", "\td1\t1"])
def test_an_id_of_beir_s_holds_no_white_space_and_is_not_empty(line: str) -> None:
    *_, last = parse(f"{HEADER}{line}\n")
    assert isinstance(last, Drop)
    assert last.reason is Reason.BAD_ID


@given(st.dictionaries(ids, st.dictionaries(ids, st.integers(-9, 100), min_size=1), min_size=1))
def test_qrels_that_we_write_read_back_the_same(judged: dict[str, dict[str, int]]) -> None:
    content = "".join(
        line for one, grades in judged.items() for line in qrels_lines(one, [*grades], [*grades.values()])
    )
    found: dict[str, dict[str, int]] = {}
    for item in parse(content):
        assert isinstance(item, Judgment)
        found.setdefault(item.query_id, {})[item.doc_id] = item.grade
    assert found == judged


@given(st.lists(st.text(max_size=12).filter(lambda line: "\n" not in line)))
def test_every_line_is_a_judgment_or_left_out(lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines)
    assert [item.line for item in parse(content)] == [*range(1, len(lines) + 1)]
