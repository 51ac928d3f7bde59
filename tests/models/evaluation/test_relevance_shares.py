"""models/evaluation/relevance_shares.py: the share of relevant documents by score, and the signs of no good answer."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.relevance_shares import (
    ERROR_RATE,
    MAX_STEPS,
    MIN_QUERIES,
    RelevanceShares,
    fit_relevance_shares,
)
from schemas.relevance import MOST_RELEVANT

SIZE = 4
DRAWN = np.array([False, False, True, True])
"""Each list has two judged documents and two drawn ones."""

queries = st.integers(MIN_QUERIES, 90)
seeds = st.integers(0, 2**32 - 1)


def fitted(scores, grades, documents, known_shares=None):
    return fit_relevance_shares(
        [np.array(list_scores, np.float32) for list_scores in scores],
        [np.array(list_grades) for list_grades in grades],
        [DRAWN for _ in scores],
        documents,
        MOST_RELEVANT,
        known_shares,
    )


def lists(queries, seed):
    """Scores, with ties, that are higher for relevant documents; and grades, 0 for drawn documents."""
    generator = np.random.default_rng(seed)
    grades = np.stack([[MOST_RELEVANT, generator.integers(0, 3), 0, 0] for _ in range(queries)])
    return np.round(generator.normal(size=[queries, SIZE]) + grades, 1), grades


@given(queries=queries, seed=seeds, documents=st.integers(SIZE, 10**6))
def test_shares_rise_with_the_score_and_lie_between_0_and_1(queries, seed, documents):
    shares = fitted(*lists(queries, seed), documents)
    assert len(shares.score) == len(shares.share) <= 2 * MAX_STEPS
    assert (np.diff(shares.score) > 0).all() and (np.diff(shares.share) >= 0).all()
    values = [shares.at(score) for score in np.linspace(-5, 9, 50)]
    assert values == sorted(values) and 0 <= values[0] and values[-1] <= 1


@given(queries=queries, seed=seeds)
def test_where_lists_hold_the_whole_collection_the_mean_share_is_that_of_relevant_documents(queries, seed):
    scores, grades = lists(queries, seed)
    shares = fitted(scores, grades, documents=SIZE)
    mean = np.mean([shares.at(score) for score in scores.astype(np.float32).ravel()])
    assert mean == pytest.approx((grades > 0).mean())


@given(queries=queries, seed=seeds)
def test_the_signs_mark_at_most_the_error_rate_of_the_eval_queries(queries, seed):
    scores, grades = lists(queries, seed)
    known = np.round(np.random.default_rng(seed).uniform(size=queries), 1).astype(np.float32)
    shares = fitted(scores, grades, 1_000, known)
    best = scores.astype(np.float32).max(axis=1)
    marked = [shares.why_no_good_answer(*signs) is not None for signs in zip(best, known, strict=True)]
    assert sum(marked) <= ERROR_RATE * queries
    assert sum(best < fitted(scores, grades, 1_000).no_answer_below) <= ERROR_RATE * queries


def test_a_drawn_document_counts_as_often_as_it_stands_for_others_and_a_judged_one_once():
    # 102 documents: each of the two drawn ones stands for 50. Each score has two judged documents or two drawn ones.
    shares = fitted([[2.0, 1.0, 1.0, 0.0]] * MIN_QUERIES, [[2, 1, 0, 0]] * MIN_QUERIES, documents=102)
    assert shares.at(0.0) == 0
    assert shares.at(1.0) == pytest.approx(1 / (1 + 50))
    assert shares.at(2.0) == pytest.approx(MIN_QUERIES / (MIN_QUERIES + 50 - 1))


def test_a_judged_document_that_is_not_relevant_stands_for_no_other():
    shares = fitted([[2.0, 1.0, 0.0, 0.0]] * MIN_QUERIES, [[2, 0, 0, 0]] * MIN_QUERIES, documents=10_000)
    assert shares.at(1.0) == 0
    assert shares.at(2.0) == pytest.approx(MIN_QUERIES / (MIN_QUERIES + 4999 - 1))


def test_few_drawn_documents_of_a_large_collection_do_not_make_the_highest_score_sure():
    scores, grades = [[2.0, 2.0, 0.0, 0.0]] * MIN_QUERIES, [[2, 1, 0, 0]] * MIN_QUERIES
    assert fitted(scores, grades, documents=10).at(9.0) > 0.95
    assert fitted(scores, grades, documents=10**6).at(9.0) < 0.001


def test_queries_without_an_mr_document_set_no_limit():
    answered, low = [[2.0, 1.0, 0.0, 0.0]] * MIN_QUERIES, [[-9.0] * SIZE] * 60
    shares = fitted([*answered, *low], [[2, 0, 0, 0]] * MIN_QUERIES + [[1, 0, 0, 0]] * 60, 100)
    assert (shares.no_answer_below, shares.queries) == (2.0, MIN_QUERIES)


def test_with_too_few_queries_nothing_is_fitted():
    for queries in (0, MIN_QUERIES - 1):
        assert fitted([[0.0] * SIZE] * queries, [[2, 0, 0, 0]] * queries, 100) is None


@pytest.mark.parametrize(
    ("best", "known_share", "numbers"),
    [
        (0.41, 1.0, ["0.4100", "0.5500", "5"]),
        (0.55, 0.6, ["60.0", "62.5", "5"]),
        (0.41, 0.6, ["0.4100", "0.5500", "60.0", "62.5", "5"]),
        (0.55, 0.625, []),
    ],
)
def test_a_reason_shows_each_sign_with_its_limit_and_the_error_rate(best, known_share, numbers):
    shares = RelevanceShares((0.0, 1.0), (0.0, 1.0), 0.55, 0.625, 0.05, 100)
    reason = shares.why_no_good_answer(best, known_share)
    assert (reason is None) == (not numbers)
    assert re.findall(r"\d+(?:\.\d+)?", reason or "") == numbers
