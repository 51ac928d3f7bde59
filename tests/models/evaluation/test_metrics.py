"""The metrics: equal to trec_eval's without ties, and with ties the mean over the orders of equal scores."""

import math
from itertools import permutations, product

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from models.evaluation.formulas import AVERAGE_PRECISION, ORDERED_PAIRS
from models.evaluation.list_metrics import means, per_query_metrics
from models.evaluation.metrics import METRICS, Metric
from tests.reference import TREC_METRICS, ordered_pairs

pytestmark = pytest.mark.tensors

TOP_GRADE = 2
PAIRS = ("ordered_pairs", "ordered_pairs_mr", "ordered_pairs_sr")

doc_ids = st.text("aZ09é北😀", min_size=1, max_size=3).map(str.encode)
finite_scores = st.floats(-1, 1, width=32)


@st.composite
def judged_lists(draw):
    """doc_ids, scores and grades of a list: short or long, without ties, sometimes of one grade."""
    ids = draw(st.lists(doc_ids, min_size=1, max_size=9, unique=True))
    each = {"min_size": len(ids), "max_size": len(ids)}
    grade = draw(st.sampled_from([st.integers(0, TOP_GRADE), *map(st.just, range(TOP_GRADE + 1))]))
    scores = draw(st.lists(finite_scores, unique=True, **each))
    return ids, np.array(scores, np.float32), np.array(draw(st.lists(grade, **each)))


def metrics_of_ranked(ranked, top_grade=TOP_GRADE, keys=None):
    """The metrics of lists of grades, best-ranked first."""
    return per_query_metrics(ranked, [-np.arange(len(grades)) for grades in ranked], top_grade, keys)


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
    values = metrics_of_ranked([np.array([0, 1, 2, 0, 0, 1])])
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
    _, scores, grades = zip(*lists, strict=True)
    values = per_query_metrics(grades, scores, TOP_GRADE)
    assert set(values) == {*expected, *PAIRS} == set(METRICS)
    for key, expected_values in expected.items():
        np.testing.assert_allclose(values[key], expected_values, atol=1e-6, err_msg=key)


def test_query_without_relevant_documents_scores_zero_and_counts():
    ranked = [np.array([2, 0]), np.array([0, 0])]
    assert means(metrics_of_ranked(ranked)) == pytest.approx(
        {"recall_mr_5": 1 / 2, "p_r_5": 1 / 10, "p_r_10": 1 / 20, **dict.fromkeys(PAIRS[:2], 3 / 4), PAIRS[2]: 1 / 2}
        | dict.fromkeys(["p_mr_1", "ndcg_5", "map", "mrr_mr", "mrr_r"], 1 / 2)
    )
    assert means(metrics_of_ranked([])) == dict.fromkeys(METRICS, 0.0)


def test_the_highest_of_other_grades_is_the_mr_grade():
    four_grades = metrics_of_ranked([np.array([2, 3, 0])], top_grade=3)
    assert (four_grades["p_mr_1"], four_grades["mrr_mr"], four_grades["mrr_r"]) == (0, 1 / 2, 1)
    two_grades = metrics_of_ranked([np.array([1, 0, 1]), np.array([1, 0, 0])], top_grade=1)
    assert two_grades["ordered_pairs"].tolist() == two_grades["ordered_pairs_mr"].tolist() == [1 / 2, 1]
    assert two_grades["ordered_pairs_sr"].tolist() == [1 / 2, 1 / 2]


@settings(max_examples=8)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=12).map(np.array), min_size=1, max_size=8))
def test_ordered_pairs_are_counted_pair_by_pair(ranked):
    values = metrics_of_ranked(ranked, top_grade=4, keys=PAIRS)
    without_sr = [[int(grade == 4) for grade in grades if grade in (0, 4)] for grades in ranked]
    without_mr = [[grade for grade in grades if grade < 4] for grades in ranked]
    for key, lists in zip(PAIRS, (ranked, without_sr, without_mr), strict=True):
        assert values[key].tolist() == pytest.approx([ordered_pairs(list(grades)) for grades in lists])


def test_many_and_long_lists_have_the_metrics_of_each(monkeypatch):
    generator = np.random.default_rng(0)
    ranked = [generator.integers(0, 3, size) for size in (3, 40, 1, 17, 40)]
    alone = [metrics_of_ranked([grades]) for grades in ranked]
    monkeypatch.setattr("models.evaluation.list_metrics._CELLS_AT_ONCE", 90)  # two lists at a time
    for key, values in metrics_of_ranked(ranked).items():
        np.testing.assert_allclose(values, [single[key][0] for single in alone], atol=1e-6, err_msg=key)


# Equal scores


@st.composite
def tied_lists(draw):
    """A top grade, and the grades of each score's documents, the highest score first: of few enough orders."""
    top_grade = draw(st.integers(1, 3))
    grades = st.lists(st.integers(0, top_grade), min_size=1, max_size=3)
    return top_grade, draw(st.lists(grades, min_size=1, max_size=3)) if draw(st.booleans()) else [
        draw(st.lists(st.integers(0, top_grade), min_size=1, max_size=6))
    ]


def every_order(tied):
    """The lists of grades in each order of the documents with equal scores."""
    orders = product(*(sorted({*permutations(grades)}) for grades in tied))
    # Equal grades make an order as often as each other order.
    return [np.array([grade for grades in order for grade in grades]) for order in orders]


@settings(max_examples=25)
@given(tied_lists())
def test_documents_with_equal_scores_have_the_mean_over_all_their_orders(drawn):
    top_grade, tied = drawn
    scores = np.repeat(-np.arange(len(tied)), [*map(len, tied)])
    (grades, *_), order = every_order(tied), np.random.default_rng(0).permutation(len(scores))
    shuffled = per_query_metrics([grades[order]], [scores[order]], top_grade)
    expected = means(metrics_of_ranked(every_order(tied), top_grade))
    assert means(shuffled) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "key", ["p_mr_3", "p_r_3", "recall_mr_2", "recall_2", "ndcg_10", "ndcg", "mrr_mr_2", "mrr_r_2", "map"]
)
def test_the_mean_over_orders_holds_with_other_cutoffs_too(key):
    for tied in ([[2, 1, 1, 0, 0]], [[0, 1], [2], [0, 1, 0]]):
        expected = means(metrics_of_ranked(every_order(tied), keys=[key]))
        assert Metric.parse(key).expected(tied, TOP_GRADE) == pytest.approx(expected[key], abs=1e-6)


def test_the_mean_of_ordered_pairs_has_no_cutoff():
    with pytest.raises(ValueError, match="None.*; got 10"):
        ORDERED_PAIRS.expectation([[1, 0]], 10)


def test_average_precision_with_a_cutoff_divides_by_all_relevant_documents():
    for tied in ([[1, 1, 0, 0]], [[0, 1], [1, 0, 0, 1]]):
        orders = [
            sum(sum(order[: row + 1]) / (row + 1) for row in range(3) if order[row]) / sum(order)
            for order in every_order(tied)
        ]
        assert AVERAGE_PRECISION.expectation(tied, 3) == pytest.approx(np.mean(orders))


def test_the_floor_of_a_list_without_a_relevant_document_is_0_and_that_of_ordered_pairs_a_half():
    floors = per_query_metrics([np.asarray([2, 0]), np.asarray([0, 0, 0])], [np.zeros(2), np.zeros(3)], 2)
    # The MR document of the first list has either of two places; the second list has none.
    assert floors["mrr_mr"].tolist() == pytest.approx([(1 + 1 / 2) / 2, 0])
    assert all(floors[key].tolist() == [0.5, 0.5] for key in PAIRS)
