"""The metrics of a search: hand values, and trec_eval's."""

from math import log2

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.metrics import SEARCH_METRICS
from models.evaluation.search_metrics import DEPTH, NEVER, ranks_of, search_metrics

TOP_GRADE = 2
TREC_EVAL = {
    "p_mr_1": (2, "P_1"),
    "ndcg_5": (1, "ndcg_cut_5"),
    "ndcg_10": (1, "ndcg_cut_10"),
    "ndcg_20": (1, "ndcg_cut_20"),
    "mrr_mr": (2, "recip_rank"),
    "mrr_r": (1, "recip_rank"),
    "recall_mr_10": (2, "recall_10"),
    "recall_10": (1, "recall_10"),
    "recall_100": (1, "recall_100"),
    "recall_1000": (1, "recall_1000"),
}
"""The lowest grade that is relevant, and trec_eval's name."""


@st.composite
def searches(draw):
    """A ranking of numbered documents, best first, and the grades of some of these or of others."""
    size = draw(st.sampled_from([0, 1, 5, 12, 120, DEPTH]))
    ranked = [f"d{number}" for number in draw(st.permutations(range(12)))][: min(size, 12)]
    ranked += [f"e{number}" for number in range(size - len(ranked))]
    judged = draw(st.dictionaries(st.integers(0, 15), st.integers(0, TOP_GRADE), max_size=8))
    judgments = {f"d{number}": grade for number, grade in judged.items()}
    far = draw(st.integers(0, 130))
    return ranked, {**judgments, f"e{far}": draw(st.integers(0, TOP_GRADE))}


def test_values_of_a_ranking_by_hand():
    # SR at rank 2, MR at rank 4, one SR at rank 101, and one below the depth.
    values = search_metrics([np.array([1, 2, 1, 1])], [np.array([2.0, 4.0, 101.0, NEVER])], TOP_GRADE)
    gain = 1 / log2(3) + 2 / log2(5)
    ideal = 2 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert {key: value[0] for key, value in values.items()} == pytest.approx(
        {
            "p_mr_1": 0,
            "ndcg_5": gain / ideal,
            "ndcg_10": gain / ideal,
            "ndcg_20": gain / ideal,
            "mrr_mr": 1 / 4,
            "mrr_r": 1 / 2,
            "recall_mr_10": 1,
            "recall_10": 2 / 4,
            "recall_100": 2 / 4,
            "recall_1000": 3 / 4,
        }
    )


@given(st.lists(searches(), min_size=1, max_size=4))
def test_every_metric_equals_trec_evals(queries):
    grades = [np.array([*judgments.values()], np.int64) for _, judgments in queries]
    values = search_metrics(grades, [ranks_of([*judgments], ranked) for ranked, judgments in queries], TOP_GRADE)
    assert values.keys() == TREC_EVAL.keys() == SEARCH_METRICS.keys()
    for key, (lowest, name) in TREC_EVAL.items():
        for row, (ranked, judgments) in enumerate(queries):
            judged = {doc_id: grade if lowest == 1 else int(grade >= lowest) for doc_id, grade in judgments.items()}
            run = {doc_id: float(-rank) for rank, doc_id in enumerate(ranked)}
            scored = pytrec_eval.RelevanceEvaluator({"q": judged}, {name}).evaluate({"q": run})
            # A ranking without documents is left out of trec_eval's answer.
            assert values[key][row] == pytest.approx(scored.get("q", {name: 0})[name], abs=1e-6), key


def test_a_query_without_a_relevant_document_scores_zero_and_counts():
    values = search_metrics([np.array([], np.int64), np.array([0])], [np.array([]), np.array([1.0])], TOP_GRADE)
    assert all(value.tolist() == [0, 0] for value in values.values())


def test_with_two_grades_the_higher_is_mr():
    values = search_metrics([np.array([1])], [np.array([1.0])], top_grade=1)
    assert {value[0] for value in values.values()} == {1}


def test_a_document_at_the_depth_counts_and_the_next_was_never_reached():
    ranked = [f"d{number}" for number in range(DEPTH + 1)]
    last, below = ranks_of(ranked[-2:], ranked[:DEPTH])
    assert (last, below) == (DEPTH, NEVER)
    values = search_metrics([np.array([2])] * 2, [np.array([last]), np.array([below])], TOP_GRADE)
    assert values["mrr_mr"].tolist() == [1 / DEPTH, 0]
    assert values["recall_1000"].tolist() == [1, 0]
