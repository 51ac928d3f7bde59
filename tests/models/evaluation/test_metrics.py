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
TREC_EVAL_OF_MR, TREC_EVAL_OF_R = (
    {key: name for key, (name, least) in TREC_METRICS.items() if least == level} for level in (TOP_GRADE, 1)
)
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


queries = st.lists(judged_lists(), min_size=1, max_size=12)


def metrics_of(lists):
    ids, scores, grades = zip(*lists, strict=True)
    query_ids = [str(row).encode() for row in range(len(lists))]
    return per_query_metrics(ranked_grades(query_ids, ids, scores, grades), TOP_GRADE)


def trec_eval(lists, measures, least_grade):
    """trec_eval's values with grades binarised at `least_grade`, or as they are where that is 1."""
    judgments, run = {}, {}
    for row, (ids, scores, grades) in enumerate(lists):
        names = [doc_id.decode() for doc_id in ids]
        judged = grades if least_grade == 1 else grades >= least_grade
        judgments[str(row)] = dict(zip(names, map(int, judged), strict=True))
        run[str(row)] = dict(zip(names, map(float, scores), strict=True))
    results = pytrec_eval.RelevanceEvaluator(judgments, set(measures.values())).evaluate(run)
    return {key: [results[str(row)][name] for row in range(len(lists))] for key, name in measures.items()}


def test_values_of_a_ranking_by_hand():
    values = per_query_metrics([np.array([0, 1, 2, 0, 0, 1])], TOP_GRADE)
    discounts = [1 / math.log2(1 + place) for place in range(1, 6)]
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


@pytest.mark.stages
@settings(max_examples=15)
@given(queries)
def test_every_metric_of_every_query_equals_trec_evals(lists):
    expected = trec_eval(lists, TREC_EVAL_OF_MR, TOP_GRADE) | trec_eval(lists, TREC_EVAL_OF_R, 1)
    values = metrics_of(lists)
    assert set(values) == {*expected, *PAIRS} == set(METRICS)
    for key in METRICS:
        if key in expected:
            np.testing.assert_allclose(values[key], expected[key], atol=1e-6, err_msg=key)
        assert ((0 <= values[key]) & (values[key] <= 1 + 1e-6)).all()


def pairs_of(lists):
    """The number of pairs of each list: with different grades, of MR and NR, of SR and NR."""
    counts = np.array([[(grades == grade).sum() for grade in range(TOP_GRADE + 1)] for grades in lists])
    nr, sr, mr = counts.T
    return mr * sr + mr * nr + sr * nr, mr * nr, sr * nr


@pytest.mark.stages
@settings(max_examples=8)
@given(queries)
def test_perfect_order_reaches_the_most_that_can_be_reached(lists):
    ranked = [np.sort(grades)[::-1] for _, _, grades in lists]
    most_relevant = np.array([(grades == TOP_GRADE).sum() for grades in ranked])
    relevant = np.array([(grades >= 1).sum() for grades in ranked])
    reachable = {
        "p_mr_1": most_relevant > 0,
        "recall_mr_5": np.minimum(most_relevant, 5) / np.maximum(most_relevant, 1),
        "p_r_5": np.minimum(relevant, 5) / 5,
        "ndcg_5": relevant > 0,
        "map": relevant > 0,
        "mrr_mr": most_relevant > 0,
        "mrr_r": relevant > 0,
        "p_r_10": np.minimum(relevant, 10) / 10,
        **{key: np.where(pairs > 0, 1, 0.5) for key, pairs in zip(PAIRS, pairs_of(ranked), strict=True)},
    }
    perfect, given_order = per_query_metrics(ranked, TOP_GRADE), metrics_of(lists)
    for key in METRICS:
        np.testing.assert_allclose(perfect[key], reachable[key], atol=1e-6, err_msg=key)
        assert (given_order[key] <= perfect[key] + 1e-6).all()


def test_constant_scorer_gets_no_luck():
    ids, grades = [b"3", b"2", b"1"], np.array([0, 2, 1])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        values = metrics_of([([ids[place] for place in order], np.full(3, 0.5, np.float32), grades[order])])
        assert values["mrr_mr"] == pytest.approx(1 / 2)


def test_query_without_relevant_documents_scores_zero_and_counts():
    ranked = [np.array([2, 0]), np.array([0, 0])]
    values = per_query_metrics(ranked, TOP_GRADE)
    assert not any(of_queries[1] for key, of_queries in values.items() if key not in PAIRS)
    assert mean_metrics(ranked, TOP_GRADE)["map"] == pytest.approx((1 + 0) / 2)


def test_highest_of_other_grades_is_the_mr_grade():
    values = per_query_metrics([np.array([2, 3, 0])], top_grade=3)
    assert (values["p_mr_1"], values["mrr_mr"], values["mrr_r"]) == (0, 1 / 2, 1)


def test_no_queries_have_metrics_of_zero():
    assert mean_metrics([], TOP_GRADE) == dict.fromkeys(METRICS, 0.0)


# Ordered pairs


@settings(max_examples=8)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=12).map(np.array), min_size=1, max_size=8))
def test_ordered_pairs_are_counted_pair_by_pair(ranked):
    values = per_query_metrics(ranked, top_grade=4)
    without_sr = [[int(grade == 4) for grade in grades if grade in (0, 4)] for grades in ranked]
    without_mr = [[grade for grade in grades if grade < 4] for grades in ranked]
    for key, lists in zip(PAIRS, (ranked, without_sr, without_mr), strict=True):
        assert values[key].tolist() == pytest.approx([ordered_pairs(list(grades)) for grades in lists])


@pytest.mark.stages
@settings(max_examples=8)
@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12).map(np.array), min_size=1, max_size=8))
def test_the_reversed_order_has_the_other_ordered_pairs(ranked):
    values, others = (per_query_metrics(lists, TOP_GRADE) for lists in (ranked, [one[::-1] for one in ranked]))
    for key in PAIRS:
        np.testing.assert_allclose(values[key] + others[key], 1)


@pytest.mark.stages
@settings(max_examples=8)
@given(queries)
def test_no_increasing_map_of_the_scores_changes_a_metric(lists):
    # Ranks of the scores: an increasing map that float32 does not round.
    mapped = [(ids, np.unique(scores, return_inverse=True)[1] ** 3.0 - 7, grades) for ids, scores, grades in lists]
    values, others = metrics_of(lists), metrics_of(mapped)
    for key in METRICS:
        np.testing.assert_array_equal(values[key], others[key], err_msg=key)


def test_documents_of_other_grades_do_not_count_in_the_pairs_of_mr_and_of_sr():
    for before in ([], [1], [1, 1, 1]):
        assert per_query_metrics([np.array([*before, 0, 2, 0])], TOP_GRADE)["ordered_pairs_mr"] == pytest.approx(1 / 2)
    for before in ([], [2], [2, 2]):
        assert per_query_metrics([np.array([*before, 0, 1, 0])], TOP_GRADE)["ordered_pairs_sr"] == pytest.approx(1 / 2)


def test_lists_without_somewhat_relevant_documents_have_ordered_pairs_of_chance():
    values = per_query_metrics([np.array([1, 0, 1]), np.array([1, 0, 0])], top_grade=1)
    assert values["ordered_pairs"].tolist() == values["ordered_pairs_mr"].tolist() == [1 / 2, 1]
    assert values["ordered_pairs_sr"].tolist() == [1 / 2, 1 / 2]


def test_many_and_long_lists_have_the_metrics_of_each(monkeypatch):
    generator = np.random.default_rng(0)
    ranked = [generator.integers(0, 3, size) for size in (3, 40, 1, 17, 40)]
    alone = [per_query_metrics([grades], TOP_GRADE) for grades in ranked]
    monkeypatch.setattr("models.evaluation.metrics._PLACES_AT_ONCE", 90)  # two lists at a time
    for key, values in per_query_metrics(ranked, TOP_GRADE).items():
        np.testing.assert_allclose(values, [one[key][0] for one in alone], atol=1e-6, err_msg=key)


def test_ordered_pairs_are_those_of_whole_lists():
    with pytest.raises(ValueError, match="the cutoff of ordered pairs must be None.*; got 10"):
        Metric("ordered_pairs_10", None, "", 10, False, ORDERED_PAIRS).expected([1, 0], 2)


# Random order


@pytest.mark.parametrize(
    ("grades", "top_grade"),
    [
        ([2], 2),
        ([0], 2),
        ([0, 2], 2),
        ([1, 1, 0], 2),
        ([2, 2, 1, 0], 2),
        ([0, 0, 0, 0, 0], 2),
        ([2, 1, 1, 0, 0], 2),
        ([2, 1, 1, 1, 0, 0], 2),
        ([2, 2, 2, 2, 2, 2], 2),
        ([0, 0, 0, 0, 0, 2], 2),
        ([1, 0, 0, 1, 0, 0], 1),
        ([3, 2, 1, 0, 0, 0], 3),
    ],
)
def test_expectation_is_the_mean_over_all_orders(grades, top_grade):
    orders = [np.asarray(order) for order in permutations(grades)]
    means = {key: values.mean() for key, values in per_query_metrics(orders, top_grade).items()}
    expected = {key: metric.expected(grades, top_grade) for key, metric in METRICS.items()}
    assert expected == pytest.approx(means, abs=1e-6)


def test_expectation_with_a_cutoff_is_the_mean_over_all_orders_too(monkeypatch):
    for formula, cutoff in ((PRECISION, 3), (RECALL, 2), (NDCG, 10), (NDCG, None), (RECIPROCAL_RANK, 2)):
        for of_mr_alone in (False, True):
            key = f"{formula.expectation.__name__}_{cutoff}_{of_mr_alone}"
            monkeypatch.setitem(METRICS, key, Metric(key, None, "", cutoff, of_mr_alone, formula))
    test_expectation_is_the_mean_over_all_orders([2, 1, 1, 0, 0], 2)


def test_the_expectation_of_average_precision_is_that_of_whole_lists():
    with pytest.raises(ValueError, match="the cutoff of average precision must be None.*; got 10"):
        Metric("map_10", None, "", 10, False, AVERAGE_PRECISION).expected([1, 0], 2)


def test_the_floor_of_a_list_without_a_relevant_document_is_0():
    lists = [np.asarray([2, 0]), np.asarray([0, 0, 0])]
    # One of two places for the MR document of the first list; the second has none.
    assert expected_metrics(lists, 2)["mrr_mr"].tolist() == pytest.approx([(1 + 1 / 2) / 2, 0])


def test_the_floor_of_ordered_pairs_is_a_half_with_and_without_a_pair():
    lists = [np.asarray([2, 0]), np.asarray([0, 0, 0])]
    for key in PAIRS:
        assert expected_metrics(lists, 2)[key].tolist() == [0.5, 0.5]
