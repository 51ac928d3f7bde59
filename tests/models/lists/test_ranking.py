"""The order of a list: by score, then by document id, whatever order the documents come in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.lists.ranking import best_rows, rank

pytestmark = pytest.mark.tensors

doc_ids = st.text("aZ09é北😀", min_size=1, max_size=3).map(str.encode)
finite_scores = st.floats(-1, 1, width=32) | st.sampled_from([0.0, 0.25, 0.5])  # the few make ties


@st.composite
def scored_lists(draw):
    """doc_ids and scores of a list, often with ties."""
    ids = draw(st.lists(doc_ids, min_size=1, max_size=9, unique=True))
    return ids, np.array(draw(st.lists(finite_scores, min_size=len(ids), max_size=len(ids))), np.float32)


@given(scored_lists(), st.randoms())
def test_increasing_maps_of_the_scores_and_the_order_of_the_documents_do_not_change_the_ranking(example, random):
    ids, scores = example
    ranking = rank(scores, ids)
    _, values = np.unique(scores, return_inverse=True)
    for increasing in (2 * scores, values.astype(np.float32), np.exp(values.astype(np.float32))):
        assert np.array_equal(rank(increasing, ids), ranking)
    order = random.sample(range(len(ids)), len(ids))
    shuffled = [ids[row] for row in order]
    assert [shuffled[row] for row in rank(scores[order], shuffled)] == [ids[row] for row in ranking]


def test_ties_also_those_of_float32_are_broken_by_document_id_descending_bytewise():
    ids = [b"10", b"9", "é".encode(), b"z"]
    scores = np.array([1.0 + 1e-12, 1.0, 1.0, 1.0])
    assert [ids[row] for row in rank(scores, ids)] == ["é".encode(), b"z", b"9", b"10"]


# The best of many


@settings(max_examples=100)
@given(
    st.sampled_from([0, 1, 5, 255, 256, 257, 3000]),
    st.sampled_from([1, 3, 11, 300]),
    st.integers(0, 2**20),
    st.integers(1, 2000),
)
def test_best_places_are_those_of_scores_no_lower_than_the_last_of_the_best(size, limit, seed, values):
    scores = np.random.default_rng(seed).integers(0, values, size).astype(np.float32)
    lowest = min(sorted(scores, reverse=True)[:limit], default=0)
    expected = [row for row, score in enumerate(scores) if score >= lowest]
    assert sorted(best_rows(scores, limit)) == expected


def test_minus_infinity_is_the_score_of_nothing():
    assert best_rows(np.full(600, -np.inf, np.float32), 3).tolist() == []
    scores = np.full(600, -np.inf, np.float32)
    scores[[7, 599]] = 1, 2
    assert sorted(best_rows(scores, 3)) == [7, 599]
