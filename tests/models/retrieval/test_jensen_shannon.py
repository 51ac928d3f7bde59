"""models/retrieval/drift.py: a divergence in bits, and its laws."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.retrieval.drift import jensen_shannon

WEIGHTS = st.one_of(st.just(0.0), st.floats(1e-3, 1e6))
DISTRIBUTIONS = arrays(np.float64, 6, elements=WEIGHTS).filter(lambda weights: weights.sum() > 0)


def test_a_hand_value() -> None:
    # P = (1, 0), Q = (1/2, 1/2), M = (3/4, 1/4).
    of_p, of_q = log2(1 / 0.75), 0.5 * log2(0.5 / 0.75) + 0.5 * log2(0.5 / 0.25)
    assert jensen_shannon(np.array([3.0, 0.0]), np.array([5.0, 5.0])) == pytest.approx((of_p + of_q) / 2)


@given(one=DISTRIBUTIONS, other=DISTRIBUTIONS)
def test_it_is_symmetric_and_between_0_and_1(one: np.ndarray, other: np.ndarray) -> None:
    found = jensen_shannon(one, other)
    assert 0 <= found <= 1
    assert found == pytest.approx(jensen_shannon(other, one), abs=1e-12)


@given(one=DISTRIBUTIONS, factor=st.floats(1e-3, 1e3))
def test_it_is_0_for_equal_distributions_whatever_their_sums(one: np.ndarray, factor: float) -> None:
    assert jensen_shannon(one, one * factor) == pytest.approx(0, abs=1e-12)


@given(one=DISTRIBUTIONS, other=DISTRIBUTIONS)
def test_it_is_1_where_nothing_has_a_weight_in_both(one: np.ndarray, other: np.ndarray) -> None:
    nothing = np.zeros(6)
    assert jensen_shannon(np.concatenate([one, nothing]), np.concatenate([nothing, other])) == pytest.approx(1)


def test_a_side_without_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="must not all be 0; their sums are 0 and 1"):
        jensen_shannon(np.zeros(1), np.ones(1))
