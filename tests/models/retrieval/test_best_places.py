"""The best of many scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval.corpus_index import best_places


@pytest.mark.parametrize("size", [0, 1, 5, 255, 256, 257, 3000])
@pytest.mark.parametrize("most", [1, 3, 11, 300])
@given(seed=st.integers(0, 2**20), values=st.integers(1, 2000))
def test_they_are_those_that_no_more_than_most_lie_above(size, most, seed, values):
    scores = np.random.default_rng(seed).integers(0, values, size).astype(np.float32)
    expected = [place for place, score in enumerate(scores) if (scores > score).sum() < most]
    assert sorted(best_places(scores, most)) == expected


def test_minus_infinity_is_the_score_of_nothing():
    assert best_places(np.full(600, -np.inf, np.float32), 3).tolist() == []
    scores = np.full(600, -np.inf, np.float32)
    scores[[7, 599]] = 1, 2
    assert sorted(best_places(scores, 3)) == [7, 599]
