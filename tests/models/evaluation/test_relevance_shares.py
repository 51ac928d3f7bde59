"""models/evaluation/relevance_shares.py: the share of relevant documents by score, and the signs of no good answer."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.relevance_shares import (
    ERROR_RATE,
    FEWEST_QUERIES,
    MOST_STEPS,
    RelevanceShares,
    fit_relevance_shares,
)
from schemas.relevance import MOST_RELEVANT

SIZE = 4
DRAWN = np.array([False, False, True, True])
"""Each list has two judged documents and two drawn ones."""


def fitted(
    scores: Sequence[Sequence[float]], grades: Sequence[Sequence[int]], documents: int, known: Sequence[float] = ()
) -> RelevanceShares:
    found = fit_relevance_shares(
        [np.array(one, np.float32) for one in scores],
        [np.array(one) for one in grades],
        [DRAWN for _ in scores],
        documents,
        MOST_RELEVANT,
        np.array(known, np.float32) if len(known) else None,
    )
    assert found is not None
    return found


queries = st.integers(FEWEST_QUERIES, 90)
seeds = st.integers(0, 2**32 - 1)


def lists(queries: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores, with ties, that are higher for relevant documents; and grades, 0 for drawn documents."""
    generator = np.random.default_rng(seed)
    grades = np.stack([[MOST_RELEVANT, generator.integers(0, 3), 0, 0] for _ in range(queries)])
    return np.round(generator.normal(size=[queries, SIZE]) + grades, 1), grades


@given(queries=queries, seed=seeds, documents=st.integers(SIZE, 10**6))
def test_shares_rise_with_the_score_and_lie_between_0_and_1(queries: int, seed: int, documents: int) -> None:
    found = fitted(*lists(queries, seed), documents)
    assert len(found.score) == len(found.share) <= 2 * MOST_STEPS
    assert (np.diff(found.score) > 0).all() and (np.diff(found.share) >= 0).all()
    shares = [found.of(score) for score in np.linspace(-5, 9, 50)]
    assert shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1


@given(queries=queries, seed=seeds)
def test_where_lists_hold_the_whole_collection_the_mean_share_is_that_of_relevant_documents(
    queries: int, seed: int
) -> None:
    scores, grades = lists(queries, seed)
    found = fitted(scores, grades, documents=SIZE)
    assert np.mean([found.of(score) for score in scores.astype(np.float32).ravel()]) == pytest.approx(
        (grades > 0).mean()
    )


@given(queries=queries, seed=seeds)
def test_the_signs_mark_at_most_the_error_rate_of_the_eval_queries(queries: int, seed: int) -> None:
    scores, grades = lists(queries, seed)
    known = np.round(np.random.default_rng(seed).uniform(size=queries), 1).astype(np.float32)
    found = fitted(scores, grades, 1_000, known)
    best = scores.astype(np.float32).max(axis=1)
    marked = [found.why_no_good_answer(*one) is not None for one in zip(best, known, strict=True)]
    assert sum(marked) <= ERROR_RATE * queries
    assert sum(one < fitted(scores, grades, 1_000).no_answer_below for one in best) <= ERROR_RATE * queries


def test_a_drawn_document_counts_as_often_as_it_stands_for_others_and_a_judged_one_once() -> None:
    # 102 documents: each of the two drawn ones stands for 50. Each score has two judged documents or two drawn ones.
    scores, grades = [[2.0, 1.0, 1.0, 0.0]] * FEWEST_QUERIES, [[2, 1, 0, 0]] * FEWEST_QUERIES
    found = fitted(scores, grades, documents=102)
    assert found.of(0.0) == 0
    assert found.of(1.0) == pytest.approx(1 / (1 + 50))
    assert found.of(2.0) == pytest.approx(FEWEST_QUERIES / (FEWEST_QUERIES + 50 - 1))


def test_a_judged_document_that_is_not_relevant_stands_for_no_other() -> None:
    scores, grades = [[2.0, 1.0, 0.0, 0.0]] * FEWEST_QUERIES, [[2, 0, 0, 0]] * FEWEST_QUERIES
    judged = fitted(scores, grades, documents=10_000)
    assert judged.of(1.0) == 0
    assert judged.of(2.0) == pytest.approx(FEWEST_QUERIES / (FEWEST_QUERIES + 4999 - 1))


def test_few_drawn_documents_of_a_large_collection_do_not_make_the_highest_score_sure() -> None:
    scores, grades = [[2.0, 2.0, 0.0, 0.0]] * FEWEST_QUERIES, [[2, 1, 0, 0]] * FEWEST_QUERIES
    assert fitted(scores, grades, documents=10).of(9.0) > 0.95
    assert fitted(scores, grades, documents=10**6).of(9.0) < 0.001


def test_queries_without_an_mr_document_set_no_limit() -> None:
    answered, low = [[2.0, 1.0, 0.0, 0.0]] * FEWEST_QUERIES, [[-9.0] * SIZE] * 60
    found = fitted([*answered, *low], [[2, 0, 0, 0]] * FEWEST_QUERIES + [[1, 0, 0, 0]] * 60, 100)
    assert (found.no_answer_below, found.queries) == (2.0, FEWEST_QUERIES)


def test_with_too_few_queries_nothing_is_fitted() -> None:
    fewer = FEWEST_QUERIES - 1
    scores, grades = [np.zeros(SIZE, np.float32)] * fewer, [np.array([2, 0, 0, 0])] * fewer
    assert fit_relevance_shares(scores, grades, [DRAWN] * fewer, 100, MOST_RELEVANT) is None
    assert fit_relevance_shares([], [], [], 100, MOST_RELEVANT) is None


def test_a_reason_names_each_sign_and_the_error_rate() -> None:
    found = RelevanceShares((0.0, 1.0), (0.0, 1.0), 0.55, 0.625, 0.05, 100)
    low, unknown = (
        "the best score, 0.4100, is below 0.5500",
        "the model knows 60.0 % of the query's words, less than 62.5 %",
    )
    of_rate = " (so are at most 5 % of queries that have an answer)"
    assert found.why_no_good_answer(0.41, 1.0) == low + of_rate
    assert found.why_no_good_answer(0.55, 0.6) == unknown + of_rate
    assert found.why_no_good_answer(0.41, 0.6) == f"{low}, and {unknown}{of_rate}"
    assert found.why_no_good_answer(0.55, 0.625) is None
