"""Metrics from the files of an evaluation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.evaluator.evaluate import evaluate
from models.run_metrics import run_metrics
from models.score_lists import score_metrics
from models.settings import METRICS
from schemas.evaluation_files import QRELS_FILE, RUN_FILE
from tests.models.synthetic import text_lists

TOP_GRADE = 2
# Their order in UTF-8 is that of their characters, and not that in UTF-16, nor that of numbers.
IDS = ["10", "9", "z", "é", "\uffee", "\U0001f98a", "北"]
SCORES = [-1 / 3, 0.0, 1 / 3, 1e-30, 3e38]

documents = st.dictionaries(
    st.sampled_from(IDS), st.tuples(st.integers(0, TOP_GRADE), st.sampled_from(SCORES)), min_size=1
)
collections = st.dictionaries(st.sampled_from(IDS), documents, min_size=1)


def lists_of(collection):
    """The lists, sorted by query id, and the scores of their documents."""
    lists = text_lists(
        (query_id, "", {doc_id: ("", grade) for doc_id, (grade, _) in found.items()})
        for query_id, found in collection.items()
    )
    scores = [
        np.asarray([score for _, score in collection[query_id.decode()].values()], np.float32)
        for query_id in lists.query_ids
    ]
    return lists, scores


@settings(max_examples=10)
@given(collections)
def test_metrics_of_the_written_files_are_those_of_the_scores_query_by_query(collection):
    lists, scores = lists_of(collection)
    files = evaluate(lists, scores, {}, TOP_GRADE).files()
    found = run_metrics(files[RUN_FILE].splitlines(), files[QRELS_FILE].splitlines(), TOP_GRADE)
    expected = score_metrics(lists, scores, TOP_GRADE)
    assert list(found) == list(METRICS)
    for key, values in found.items():
        assert values.tolist() == expected[key].tolist(), key


RUN = ["q1 Q0 d1 1 0.5 tag\n", "q1 Q0 d2 2 0.25 tag\n", "q2 Q0 d1 1 1 tag\n"]
QRELS = ["q1 0 d1 0\n", "q1 0 d2 2\n", "q2 0 d1 2\n"]


def test_the_order_of_the_file_is_the_ranking():
    assert run_metrics(RUN, QRELS, TOP_GRADE)["mrr_mr"].tolist() == [1 / 2, 1]
    # Equal scores, as of a system that gave the order by hand.
    tied = [RUN[1].replace("0.25", "0.5"), RUN[0], RUN[2]]
    assert run_metrics(tied, QRELS, TOP_GRADE)["mrr_mr"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        (RUN[:2], QRELS),
        (RUN, QRELS[:2]),
        (RUN, QRELS[1:]),
        (RUN[1:], QRELS),
        ([*RUN[:2], "q2 Q0 d9 1 1 tag\n"], QRELS),
        ([*RUN[:2], "q9 Q0 d1 1 1 tag\n"], QRELS),
        ([], QRELS),
    ],
)
def test_files_of_different_lists_are_refused(run, qrels):
    with pytest.raises(ValueError, match="run and qrels must hold the same lists"):
        run_metrics(run, qrels, TOP_GRADE)
