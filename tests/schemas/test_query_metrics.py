"""The metrics of an evaluation query by query, as a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.query_metrics import QueryMetrics

ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)
TEXT = "query_id\tmap\tmrr_r\nq1\t0.1\t1.0\nq2\t0.3333333333333333\t0.0\n"


def test_the_file_is_a_table_that_a_person_can_open() -> None:
    metrics = QueryMetrics(["q1", "q2"], {"map": [0.1, 1 / 3], "mrr_r": [1.0, 0.0]})
    assert metrics.to_tsv() == TEXT
    assert QueryMetrics.from_tsv(TEXT) == metrics


@given(st.dictionaries(ids, st.tuples(st.floats(0, 1), st.floats(0, 1, width=32)), max_size=9))
def test_every_number_reads_back_the_same(rows: dict[str, tuple[float, float]]) -> None:
    metrics = QueryMetrics([*rows], {key: [row[place] for row in rows.values()] for place, key in enumerate("ab")})
    assert QueryMetrics.from_tsv(metrics.to_tsv()) == metrics


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", r"the first line must name query_id and metrics; got \[''\]"),
        ("query_id\nq1\n", r"the first line must name query_id and metrics; got \['query_id'\]"),
        ("q1\t0.1\t1.0\n", "the first line must name query_id"),
        (TEXT + "q3\t0.1\n", "line 4 must hold 3 fields; got 2"),
        (TEXT + "\n", "line 4 must hold 3 fields; got 1"),
        (TEXT.replace("0.1", "high"), "could not convert string to float: 'high'"),
    ],
)
def test_what_is_no_such_table_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        QueryMetrics.from_tsv(text)
