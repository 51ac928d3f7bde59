"""TREC's text formats."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schemas.trec import parse_run, qrels_lines, run_lines

ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)
scores = st.floats(width=32, allow_nan=False, allow_infinity=False)


def test_run_lines_are_trec_run_lines():
    assert list(run_lines("q1", ["d2", "d1"], [0.5, -1.25], "bm25")) == [
        "q1 Q0 d2 1 0.5 bm25\n",
        "q1 Q0 d1 2 -1.25 bm25\n",
    ]


def test_qrels_lines_are_trec_qrels_lines():
    assert list(qrels_lines("q1", ["d2", "d1"], [2, 0])) == ["q1 0 d2 2\n", "q1 0 d1 0\n"]


@given(st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1)))
def test_a_run_reads_back_the_same_float32_scores(run):
    lines = [
        line for query_id, ranked in run.items() for line in run_lines(query_id, [*ranked], [*ranked.values()], "t")
    ]
    read = parse_run(lines)
    assert {
        query_id: {doc_id: np.float32(score) for doc_id, score in read[query_id].items()} for query_id in read
    } == run
