"""Theorem 3: hand values, and which way it goes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.theory.lemma_2 import Constants
from models.theory.theorem_3 import generalization_bound, uniform_stability


def test_stability_by_hand():
    # gamma c = 3, so the powers are 1/4 and 3/4: (1 + 1/3) / 4 * (2 * 3/2 * 9)^(1/4) * 16^(3/4)
    beta = uniform_stability(Constants(lipschitz=3.0, smoothness=2.0), step=1.5, pairs=5, steps=16)
    assert beta == pytest.approx(1 / 3 * 27 ** (1 / 4) * 8)


def test_bound_by_hand():
    # 2 * 0.5 + (4 * 8 * 0.5 + 3) * sqrt(4 / 16)
    assert generalization_bound(beta=0.5, largest=3.0, pairs=8, delta=math.exp(-4)) == pytest.approx(1 + 19 / 2)


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.01, 1), st.integers(2, 10**6), st.integers(1, 10**5))
def test_more_pairs_lower_the_bound_and_more_steps_raise_it(lipschitz, smoothness, step, pairs, steps):
    def bound(pairs, steps):
        beta = uniform_stability(Constants(lipschitz, smoothness), step, pairs, steps)
        return generalization_bound(beta, 1.0, pairs, delta=0.05)

    assert bound(2 * pairs, steps) < bound(pairs, steps) < bound(pairs, 2 * steps)
