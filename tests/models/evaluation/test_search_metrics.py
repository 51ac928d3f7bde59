"""The metrics of a search: hand values, a plain reference, and trec_eval's."""

from math import log2

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.search_metrics import DEPTH, NEVER, SEARCH_METRICS, ranks_of, search_metrics

TOP_GRADE = 2
TREC_EVAL = {
    "p_mr_1": (2, "P_1"),
    "ndcg_5": (1, "ndcg_cut_5"),
    "ndcg_10": (1, "ndcg_cut_10"),
    "mrr_mr": (2, "recip_rank"),
    "mrr_r": (1, "recip_rank"),
    "recall_mr_10": (2, "recall_10"),
    "recall_10": (1, "recall_10"),
    "recall_100": (1, "recall_100"),
    "recall_1000": (1, "recall_1000"),
}
"""The least grade that is relevant, and trec_eval's name."""


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


def values_of(found):
    grades = [np.array([*judgments.values()], np.int64) for _, judgments in found]
    ranks = [ranks_of([*judgments], ranked) for ranked, judgments in found]
    return search_metrics(grades, ranks, TOP_GRADE)


def reference(ranked: list[str], judgments: dict[str, int]) -> dict[str, float]:
    """The metrics as they are defined, over the whole ranking."""
    grades = [judgments.get(doc_id, 0) for doc_id in ranked]

    def recall(least: int, cutoff: int) -> float:
        relevant = sum(grade >= least for grade in judgments.values())
        return sum(grade >= least for grade in grades[:cutoff]) / relevant if relevant else 0.0

    def reciprocal_rank(least: int) -> float:
        return next((1 / rank for rank, grade in enumerate(grades, 1) if grade >= least), 0.0)

    def gain(of: list[int], cutoff: int) -> float:
        return sum(grade / log2(1 + rank) for rank, grade in enumerate(of[:cutoff], 1))

    def ndcg(cutoff: int) -> float:
        ideal = gain(sorted(judgments.values(), reverse=True), cutoff)
        return gain(grades, cutoff) / ideal if ideal else 0.0

    return {
        "p_mr_1": float(grades[:1] == [TOP_GRADE]),
        "ndcg_5": ndcg(5),
        "ndcg_10": ndcg(10),
        "mrr_mr": reciprocal_rank(TOP_GRADE),
        "mrr_r": reciprocal_rank(1),
        "recall_mr_10": recall(TOP_GRADE, 10),
        "recall_10": recall(1, 10),
        "recall_100": recall(1, 100),
        "recall_1000": recall(1, 1000),
    }


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
            "mrr_mr": 1 / 4,
            "mrr_r": 1 / 2,
            "recall_mr_10": 1,
            "recall_10": 2 / 4,
            "recall_100": 2 / 4,
            "recall_1000": 3 / 4,
        }
    )


@given(st.lists(searches(), max_size=4))
def test_every_metric_equals_the_reference(found):
    values = values_of(found)
    for place, one in enumerate(found):
        assert {key: value[place] for key, value in values.items()} == pytest.approx(reference(*one), abs=1e-12)


@given(st.lists(searches(), min_size=1, max_size=4))
def test_every_metric_equals_trec_evals(found):
    values = values_of(found)
    assert values.keys() == TREC_EVAL.keys() == SEARCH_METRICS.keys()
    for key, (least, name) in TREC_EVAL.items():
        for place, (ranked, judgments) in enumerate(found):
            judged = {doc_id: grade if least == 1 else int(grade >= least) for doc_id, grade in judgments.items()}
            run = {doc_id: float(-rank) for rank, doc_id in enumerate(ranked)}
            scored = pytrec_eval.RelevanceEvaluator({"q": judged}, {name}).evaluate({"q": run})
            # A ranking without documents is left out of trec_eval's answer.
            assert values[key][place] == pytest.approx(scored.get("q", {name: 0})[name], abs=1e-6), key


@given(searches())
def test_values_lie_in_zero_to_one_and_recall_grows(found):
    values = {key: value[0] for key, value in values_of([found]).items()}
    assert all(0 <= value <= 1 + 1e-12 for value in values.values())
    assert values["recall_10"] <= values["recall_100"] <= values["recall_1000"]


def test_a_query_without_a_relevant_document_scores_zero_and_counts():
    values = search_metrics([np.array([], np.int64), np.array([0])], [np.array([]), np.array([1.0])], TOP_GRADE)
    assert all(value.tolist() == [0, 0] for value in values.values())


def test_with_two_grades_the_higher_is_mr():
    values = search_metrics([np.array([1])], [np.array([1.0])], top_grade=1)
    assert {value[0] for value in values.values()} == {1}


def test_a_document_at_the_depth_counts_and_one_below_it_was_never_found():
    ranked = [f"d{number}" for number in range(DEPTH + 1)]
    at_last, below = ranks_of(ranked[-2:], ranked[:DEPTH])
    assert (at_last, below) == (DEPTH, NEVER)
    values = search_metrics([np.array([2])] * 2, [np.array([at_last]), np.array([below])], TOP_GRADE)
    assert values["mrr_mr"].tolist() == [1 / DEPTH, 0]
    assert values["recall_1000"].tolist() == [1, 0]
