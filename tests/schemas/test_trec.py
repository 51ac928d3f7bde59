"""TREC's text formats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import DataError
from schemas.trec import parse_run, qrels_lines, run_lines

ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)
scores = st.floats(width=32, allow_nan=False, allow_infinity=False)


def test_lines_are_those_of_trec_and_a_run_is_named_by_its_tag():
    lines = list(run_lines("q1", ["d2", "d1"], [0.5, -1.25], "bm25"))
    assert lines == ["q1 Q0 d2 1 0.5 bm25\n", "q1 Q0 d1 2 -1.25 bm25\n"]
    assert parse_run(lines, "run.trec") == ("bm25", {"q1": {"d2": 0.5, "d1": -1.25}})
    assert list(qrels_lines("q1", ["d2", "d1"], [2, 0])) == ["q1 0 d2 2\n", "q1 0 d1 0\n"]


@given(st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1), min_size=1))
def test_a_run_reads_back_the_same_float32_scores(run):
    lines = [
        line for query_id, ranked in run.items() for line in run_lines(query_id, [*ranked], [*ranked.values()], "t")
    ]
    read = parse_run(lines, "run.trec").scores
    assert {
        query_id: {doc_id: np.float32(score) for doc_id, score in read[query_id].items()} for query_id in read
    } == run


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([], "^a/run.trec: .*no line"),
        (["q1 Q0 d1 1 2 bm25\n", "q1 Q0 d2 2 1 dense\n", "q2 Q0 d1 1 2 bm25\n"], "^a/run.trec: .* bm25, dense"),
        (["q1 Q0 d1 1 2 bm25\n", "q1 Q0 d2 2 1\n"], "^a/run.trec:2: .* 6 fields .* 5"),
    ],
)
def test_a_file_that_is_not_the_run_of_one_system_is_refused(lines, fault):
    with pytest.raises(DataError, match=fault):
        parse_run(lines, "a/run.trec")
