"""Holm's correction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.significance import holm


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03, 0.005], [3 * 0.01, 2 * 0.03, 2 * 0.03, 4 * 0.005]),  # 0.04 is not below the 0.06 before it
        ([0.4, 0.5, 0.6], [1, 1, 1]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_corrected_p_values_by_hand(p_values, expected):
    assert holm(p_values) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_correction_never_lowers_a_p_value_nor_changes_their_order(p_values):
    corrected = holm(p_values)
    assert all(p <= after <= min(1, p * len(p_values)) for p, after in zip(p_values, corrected, strict=True))
    by_p = [after for _, after in sorted(zip(p_values, corrected, strict=True))]
    assert by_p == sorted(by_p)
