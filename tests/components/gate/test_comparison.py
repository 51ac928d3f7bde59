"""The verdict of a comparison; the test behind it is `models.randomisation_test`'s."""

import pytest

from components.gate.comparison import Comparison


@pytest.mark.parametrize(("p_value", "is_worse"), [(0.04, True), (0.05, False), (0.06, False), (1.0, False)])
def test_worse_is_a_p_value_below_the_significance(p_value, is_worse):
    comparison = Comparison("7", "ndcg_5", 0.4, 0.5, p_value, significance=0.05)
    assert comparison.is_worse == is_worse
