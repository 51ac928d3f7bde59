"""The metrics: equal to trec_eval's, and what is expected of them under random order."""

import math
from itertools import permutations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from models.evaluation.metrics import (
    AVERAGE_PRECISION,
    METRICS,
    NDCG,
    ORDERED_PAIRS,
    PRECISION,
    RECALL,
    RECIPROCAL_RANK,
    Metric,
    expected_metrics,
    mean_metrics,
    per_query_metrics,
)
from models.retrieval.ranking import ranked_grades
from tests.reference import TREC_METRICS, ordered_pairs

pytestmark = pytest.mark.tensors

TOP_GRADE = 2
PAIRS = ("ordered_pairs", "ordered_pairs_mr", "ordered_pairs_sr")

doc_ids = st.text("aZ09é北😀", min_size=1, max_size=3).map(str.encode)
finite_scores = st.floats(-1, 1, width=32) | st.sampled_from([0.0, 0.25, 0.5])  # the few make ties


@st.composite
def judged_lists(draw):
    """doc_ids, scores and grades of a list: short or long, often with ties, sometimes of one grade."""
    ids = draw(st.lists(doc_ids, min_size=1, max_size=9, unique=True))
    each = {"min_size": len(ids), "max_size": len(ids)}
    grade = draw(st.sampled_from([st.integers(0, TOP_GRADE), *map(st.just, range(TOP_GRADE + 1))]))
    return ids, np.array(draw(st.lists(finite_scores, **each)), np.float32), np.array(draw(st.lists(grade, **each)))


def metrics_of(lists):
    ids, scores, grades = zip(*lists, strict=True)
    query_ids = [str(row).encode() for row in range(len(lists))]
    return per_query_metrics(ranked_grades(query_ids, ids, scores, grades), TOP_GRADE)


def trec_eval(lists, lowest_grade):
    """trec_eval's values of our metrics whose documents are relevant from a grade on."""
    names = {key: name for key, (name, lowest) in TREC_METRICS.items() if lowest == lowest_grade}
    judgments, run = {}, {}
    for row, (ids, scores, grades) in enumerate(lists):
        judged = grades if lowest_grade == 1 else grades >= lowest_grade
        texts = [doc_id.decode() for doc_id in ids]
        judgments[str(row)] = dict(zip(texts, map(int, judged), strict=True))
        run[str(row)] = dict(zip(texts, map(float, scores), strict=True))
    results = pytrec_eval.RelevanceEvaluator(judgments, set(names.values())).evaluate(run)
    return {key: [results[str(row)][name] for row in range(len(lists))] for key, name in names.items()}


def test_values_of_a_ranking_by_hand():
    values = per_query_metrics([np.array([0, 1, 2, 0, 0, 1])], TOP_GRADE)
    discounts = [1 / math.log2(1 + rank) for rank in range(1, 6)]
    expected = {
        "p_mr_1": 0,
        "recall_mr_5": 1,
        "p_r_5": 2 / 5,
        "ndcg_5": (1 * discounts[1] + 2 * discounts[2]) / (2 * discounts[0] + 1 * discounts[1] + 1 * discounts[2]),
        "map": (1 / 2 + 2 / 3 + 3 / 6) / 3,
        "mrr_mr": 1 / 3,
        "mrr_r": 1 / 2,
        "p_r_10": 3 / 10,
        "ordered_pairs": (2 + 2 + 1) / (3 + 6 + 2),  # of 3 MR-NR, 6 SR-NR and 2 MR-SR pairs
        "ordered_pairs_mr": 2 / 3,
        "ordered_pairs_sr": 2 / 6,
    }
    assert {key: value[0] for key, value in values.items()} == pytest.approx(expected)


@given(st.lists(judged_lists(), min_size=1, max_size=12))
def test_every_metric_of_every_query_equals_trec_evals(lists):
    expected = trec_eval(lists, TOP_GRADE) | trec_eval(lists, 1)
    values = metrics_of(lists)
    assert set(values) == {*expected, *PAIRS} == set(METRICS)
    for key, expected_values in expected.items():
        np.testing.assert_allclose(values[key], expected_values, atol=1e-6, err_msg=key)


def test_constant_scorer_gets_no_luck():
    ids, grades = [b"3", b"2", b"1"], np.array([0, 2, 1])
    orders = ([0, 1, 2], [1, 0, 2], [2, 1, 0])
    values = metrics_of([([ids[row] for row in order], np.full(3, 0.5, np.float32), grades[order]) for order in orders])
    assert values["mrr_mr"] == pytest.approx([1 / 2] * 3)


def test_query_without_relevant_documents_scores_zero_and_counts():
    ranked = [np.array([2, 0]), np.array([0, 0])]
    assert mean_metrics(ranked, TOP_GRADE) == pytest.approx(
        {"recall_mr_5": 1 / 2, "p_r_5": 1 / 10, "p_r_10": 1 / 20, **dict.fromkeys(PAIRS[:2], 3 / 4), PAIRS[2]: 1 / 2}
        | dict.fromkeys(["p_mr_1", "ndcg_5", "map", "mrr_mr", "mrr_r"], 1 / 2)
    )
    assert mean_metrics([], TOP_GRADE) == dict.fromkeys(METRICS, 0.0)


def test_the_highest_of_other_grades_is_the_mr_grade():
    of_four = per_query_metrics([np.array([2, 3, 0])], top_grade=3)
    assert (of_four["p_mr_1"], of_four["mrr_mr"], of_four["mrr_r"]) == (0, 1 / 2, 1)
    of_two = per_query_metrics([np.array([1, 0, 1]), np.array([1, 0, 0])], top_grade=1)
    assert of_two["ordered_pairs"].tolist() == of_two["ordered_pairs_mr"].tolist() == [1 / 2, 1]
    assert of_two["ordered_pairs_sr"].tolist() == [1 / 2, 1 / 2]


@settings(max_examples=8)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=12).map(np.array), min_size=1, max_size=8))
def test_ordered_pairs_are_counted_pair_by_pair(ranked):
    values = per_query_metrics(ranked, top_grade=4, keys=PAIRS)
    without_sr = [[int(grade == 4) for grade in grades if grade in (0, 4)] for grades in ranked]
    without_mr = [[grade for grade in grades if grade < 4] for grades in ranked]
    for key, lists in zip(PAIRS, (ranked, without_sr, without_mr), strict=True):
        assert values[key].tolist() == pytest.approx([ordered_pairs(list(grades)) for grades in lists])


def test_many_and_long_lists_have_the_metrics_of_each(monkeypatch):
    generator = np.random.default_rng(0)
    ranked = [generator.integers(0, 3, size) for size in (3, 40, 1, 17, 40)]
    alone = [per_query_metrics([grades], TOP_GRADE) for grades in ranked]
    monkeypatch.setattr("models.evaluation.metrics._PLACES_AT_ONCE", 90)  # two lists at a time
    for key, values in per_query_metrics(ranked, TOP_GRADE).items():
        np.testing.assert_allclose(values, [single[key][0] for single in alone], atol=1e-6, err_msg=key)


# Random order


@pytest.mark.parametrize(
    ("grades", "top_grade"),
    [
        ([2], 2),
        ([0, 2], 2),
        ([1, 1, 0], 2),
        ([0, 0, 0, 0, 0], 2),
        ([2, 1, 1, 0, 0], 2),
        ([2, 2, 2, 2, 2, 2], 2),
        ([1, 0, 0, 1, 0, 0], 1),
        ([3, 2, 1, 0, 0, 0], 3),
    ],
)
def test_expectation_is_the_mean_over_all_orders(grades, top_grade):
    orders = [np.asarray(order) for order in sorted({*permutations(grades)})]
    means = {key: values.mean() for key, values in per_query_metrics(orders, top_grade).items()}
    expected = {key: metric.expected(grades, top_grade) for key, metric in METRICS.items()}
    assert expected == pytest.approx(means, abs=1e-6)


def test_expectation_with_a_cutoff_is_the_mean_over_all_orders_too(monkeypatch):
    for formula, cutoff in ((PRECISION, 3), (RECALL, 2), (NDCG, 10), (NDCG, None), (RECIPROCAL_RANK, 2)):
        for of_mr_alone in (False, True):
            key = f"{formula.expectation.__name__}_{cutoff}_{of_mr_alone}"
            monkeypatch.setitem(METRICS, key, Metric(key, None, "", cutoff, of_mr_alone, formula))
    test_expectation_is_the_mean_over_all_orders([2, 1, 1, 0, 0], 2)


@pytest.mark.parametrize("formula", [AVERAGE_PRECISION, ORDERED_PAIRS])
def test_the_expectation_of_metrics_of_whole_lists_has_no_cutoff(formula):
    with pytest.raises(ValueError, match="None.*; got 10"):
        Metric("cut", None, "", 10, False, formula).expected([1, 0], 2)


def test_the_floor_of_a_list_without_a_relevant_document_is_0_and_that_of_ordered_pairs_a_half():
    floors = expected_metrics([np.asarray([2, 0]), np.asarray([0, 0, 0])], 2)
    # The MR document of the first list has either of two places; the second list has none.
    assert floors["mrr_mr"].tolist() == pytest.approx([(1 + 1 / 2) / 2, 0])
    assert all(floors[key].tolist() == [0.5, 0.5] for key in PAIRS)
