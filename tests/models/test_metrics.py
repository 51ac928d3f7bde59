"""The seven metrics: equal to trec_eval's, and blind to everything but the ranking."""

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from models.metrics import mean_metrics, per_query_metrics, rank, ranked_grades
from models.settings import METRICS
from schemas.errors import DataError

TOP_GRADE = 2
TREC_EVAL_OF_MR = {"p_mr_1": "P_1", "recall_mr_5": "recall_5", "mrr_mr": "recip_rank"}
TREC_EVAL_OF_R = {"p_r_5": "P_5", "ndcg_5": "ndcg_cut_5", "map": "map", "mrr_r": "recip_rank"}

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
    }
    assert {key: value[0] for key, value in values.items()} == pytest.approx(expected)


@settings(max_examples=30)
@given(queries)
def test_every_metric_of_every_query_equals_trec_evals(lists):
    expected = trec_eval(lists, TREC_EVAL_OF_MR, TOP_GRADE) | trec_eval(lists, TREC_EVAL_OF_R, 1)
    values = metrics_of(lists)
    assert set(values) == set(expected) == set(METRICS)
    for key in METRICS:
        np.testing.assert_allclose(values[key], expected[key], atol=1e-6, err_msg=key)


@settings(max_examples=15)
@given(queries)
def test_values_lie_in_zero_to_one(lists):
    for values in metrics_of(lists).values():
        assert ((0 <= values) & (values <= 1 + 1e-6)).all()


@settings(max_examples=15)
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
    }
    perfect, given_order = per_query_metrics(ranked, TOP_GRADE), metrics_of(lists)
    for key in METRICS:
        np.testing.assert_allclose(perfect[key], reachable[key], atol=1e-6, err_msg=key)
        assert (given_order[key] <= perfect[key] + 1e-6).all()


@given(judged_lists())
def test_increasing_maps_of_the_scores_do_not_change_the_ranking(example):
    ids, scores, _ = example
    _, places = np.unique(scores, return_inverse=True)
    for increasing in (2 * scores, places.astype(np.float32), np.exp(places.astype(np.float32))):
        assert np.array_equal(rank(increasing, ids), rank(scores, ids))


@given(judged_lists(), st.randoms())
def test_order_in_which_the_documents_come_does_not_change_the_ranking(example, random):
    ids, scores, _ = example
    order = random.sample(range(len(ids)), len(ids))
    shuffled = [ids[place] for place in order]
    assert [shuffled[place] for place in rank(scores[order], shuffled)] == [ids[place] for place in rank(scores, ids)]


def test_ties_are_broken_by_document_id_descending_bytewise():
    ids = [b"10", b"9", "é".encode(), b"z"]
    assert [ids[place] for place in rank(np.zeros(4, np.float32), ids)] == ["é".encode(), b"z", b"9", b"10"]


def test_scores_equal_as_float32_are_tied():
    assert rank(np.array([1.0 + 1e-12, 1.0]), [b"a", b"b"]).tolist() == [1, 0]


def test_constant_scorer_gets_no_luck():
    ids, grades = [b"3", b"2", b"1"], np.array([0, 2, 1])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        values = metrics_of([([ids[place] for place in order], np.full(3, 0.5, np.float32), grades[order])])
        assert values["mrr_mr"] == pytest.approx(1 / 2)


def test_query_without_relevant_documents_scores_zero_and_counts():
    ranked = [np.array([2, 0]), np.array([0, 0])]
    assert not any(values[1] for values in per_query_metrics(ranked, TOP_GRADE).values())
    assert mean_metrics(ranked, TOP_GRADE)["map"] == pytest.approx((1 + 0) / 2)


def test_highest_of_other_grades_is_the_mr_grade():
    values = per_query_metrics([np.array([2, 3, 0])], top_grade=3)
    assert (values["p_mr_1"], values["mrr_mr"], values["mrr_r"]) == (0, 1 / 2, 1)


def test_no_queries_have_metrics_of_zero():
    assert mean_metrics([], TOP_GRADE) == dict.fromkeys(METRICS, 0.0)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_score_that_is_not_finite_is_refused_with_its_query_and_document(score):
    lists = [([b"d1"], [0.5], [1]), ([b"d1", b"d2"], [0.5, score], [1, 0])]
    ids, scores, grades = zip(*lists, strict=True)
    with pytest.raises(DataError, match=f"scores must be finite; query q2 got {score} for document d2"):
        ranked_grades([b"q1", b"q2"], ids, [np.array(values, np.float32) for values in scores], grades)
