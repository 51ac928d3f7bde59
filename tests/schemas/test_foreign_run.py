"""schemas/foreign_run.py: a first stage's run file, line by line."""

import io

import pytest

from schemas.drops import Drop, DropReason
from schemas.foreign_reason import ForeignReason
from schemas.foreign_run import RunLine, parse_foreign_run
from schemas.trec import run_lines
from schemas.wikiclir import Reason


def parse(content: str) -> list[RunLine | Drop]:
    return [*parse_foreign_run(io.BytesIO(content.encode()), "run.trec")]


def test_run_lines_that_we_write_read_back_the_same() -> None:
    content = "".join(run_lines("q1", ["d2", "d1"], [0.5, -1.25], "bm25"))
    assert parse(content) == [RunLine("q1", "d2", 0.5, 1), RunLine("q1", "d1", -1.25, 2)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 Q0 d1 1 2", Reason.FIELD_COUNT),
        ("q1 Q0 d1 1 high bm25", ForeignReason.BAD_SCORE),
        ("q1 Q0 d1 1 nan bm25", ForeignReason.BAD_SCORE),
        ("q1 Q0 d1 1 -inf bm25", ForeignReason.BAD_SCORE),
        ("", ForeignReason.EMPTY_LINE),
    ],
)
def test_a_line_that_cannot_be_used_is_left_out_alone(line: str, reason: DropReason) -> None:
    first, second, third = parse(f"q1 Q0 d1 1 2 bm25\n{line}\nq1 Q0 d2 2 1 bm25\n")
    assert isinstance(first, RunLine) and isinstance(second, Drop) and isinstance(third, RunLine)
    assert (second.reason, second.line) == (reason, 2)
