"""The paired tests against all sign flips, the t-test and SciPy's, and Holm's correction by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from models.evaluation.significance import holm, randomisation_test, wilcoxon_test


def p_value(differences, two_sided=False):
    """The p-value of a model whose metric differs from the other's by these, query by query."""
    other_values = np.full(len(differences), 0.5)
    return randomisation_test(other_values + differences, other_values, two_sided=two_sided)


def enumerated(numbers, two_sided=False):
    """The share of all sign flips whose sum is as low, or as far from 0, as the one seen; exact for integers."""
    flips = product([1, -1], repeat=len(numbers))
    sums = [sum(sign * number for sign, number in zip(signs, numbers, strict=True)) for signs in flips]
    extremes = [abs(flipped) >= abs(sum(numbers)) if two_sided else flipped <= sum(numbers) for flipped in sums]
    return sum(extremes) / len(sums)


# Few queries: exact


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([-0.1], 1 / 2),
        ([0.1], 1),
        ([-0.1, -0.2, 0.3], 5 / 8),  # -0.6, -0.4, -0.2 and twice 0 are as low as its sum, 0
        ([-0.1, 0.0, 0.0], 1 / 2),  # a query of equal values decides nothing
        ([-0.1] * 9 + [0.1], (1 + 10) / 2**10),  # all ten worse, or nine of them
    ],
)
def test_p_values_of_few_queries_by_hand(differences, expected):
    assert p_value(differences) == pytest.approx(expected)


# Thirds are no short binary numbers: equal sums of them differ in their last bits, and must count as equal.
NUMBERS = st.lists(st.integers(-6, 6), min_size=2, max_size=8)


@pytest.mark.parametrize("two_sided", [False, True])
@given(NUMBERS)
def test_p_value_is_the_share_of_all_sign_flips_that_are_as_extreme(two_sided, numbers):
    assert p_value(np.array(numbers) / 3, two_sided) == pytest.approx(enumerated(numbers, two_sided))


# Many queries: drawn

MANY = 300


@pytest.mark.parametrize(("two_sided", "alternative"), [(False, "less"), (True, "two-sided")])
@pytest.mark.parametrize("shift", [-0.05, 0.1])
def test_normal_differences_get_the_t_test_s_p_value(shift, two_sided, alternative):
    differences = np.random.default_rng(1).normal(shift, 1, MANY)
    expected = stats.ttest_1samp(differences, 0, alternative=alternative).pvalue
    # A share of 9,999 draws strays by sqrt(p (1 - p) / 9999).
    error = (expected * (1 - expected) / 9999) ** 0.5
    assert p_value(differences, two_sided) == pytest.approx(expected, abs=4 * error)


def test_p_values_of_draws_are_at_least_that_of_the_model_s_own_order_of_signs():
    assert p_value(np.full(MANY, -0.1)) == pytest.approx(1 / (9999 + 1))
    assert p_value(np.full(MANY, 0.1)) == p_value(np.zeros(MANY)) == p_value(np.zeros(MANY), two_sided=True) == 1


def test_the_p_values_of_thousands_of_queries_stay_what_they_are():
    differences = np.random.default_rng(5).normal(-0.1, 1, 2000)  # the t-test's are .00028 and .00056
    assert (p_value(differences), p_value(differences, two_sided=True)) == (0.0004, 0.0008)


# Wilcoxon's test


def signed_ranks(numbers):
    """Pratt's ranks: with k smaller differences, zeros among them, and m equal ones, k + (m + 1) / 2."""
    sizes = [abs(number) for number in numbers]
    ranks = {size: sum(smaller < size for smaller in sizes) + (sizes.count(size) + 1) / 2 for size in sizes}
    return [ranks[abs(number)] * (1 if number > 0 else -1) for number in numbers if number]


def wilcoxon(differences):
    """The p-value of differences, query by query."""
    other_values = np.full(len(differences), 0.5)
    return wilcoxon_test(other_values + differences, other_values)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([], 1),
        ([0.0], 1),
        ([0.1, 0.2, -0.3], 1),  # ranks 1 + 2 - 3 = 0
        ([-0.1, 0.2, 0.3], 4 / 2**3),  # ranks -1 + 2 + 3 = 4, as far from 0 as those of four flips
        ([0.1, 0.1, 0.1, -0.1], 10 / 2**4),  # four ranks of 2.5: all signs but the six of two against two
        ([0.0] * 500 + [0.1] * 5, 2 / 2**5),  # the normal approximation has 0.025
        ([0.0, -0.1, -0.2, 0.3, 0.4], 12 / 2**4),  # with Pratt's zero 2 + 3 of 14: up to 5, or 9 and more
    ],
)
def test_p_values_of_signed_ranks_by_hand(differences, expected):
    assert wilcoxon(np.array(differences)) == pytest.approx(expected)


@given(NUMBERS)
def test_few_signed_ranks_have_the_share_of_all_flips_that_are_as_extreme(numbers):
    assert wilcoxon(np.array(numbers) / 3) == pytest.approx(enumerated(signed_ranks(numbers), two_sided=True))


@given(st.lists(st.integers(1, 100), min_size=1, max_size=13, unique=True), st.data())
def test_without_zeros_and_ties_the_p_value_is_scipys_exact_one(sizes, data):
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    differences = np.array(sizes) * np.array(signs)
    assert wilcoxon(differences / 3) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


@pytest.mark.parametrize("zeros", [0, 1000])
def test_many_signed_ranks_have_the_normal_approximation(zeros):
    numbers = [*np.random.default_rng(3).integers(-4, 6, 80), *[0] * zeros]  # ties, and zeros of its own
    ranks = signed_ranks(numbers)
    z = sum(ranks) / sum(rank**2 for rank in ranks) ** 0.5
    assert wilcoxon(np.array(numbers) / 3) == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_differences_that_rounding_alone_separates_have_one_rank():
    values, other_values = np.array([0.3, 0.2, 0.5]), np.array([0.2, 0.1, 0.6])
    assert 0.3 - 0.2 < 0.2 - 0.1
    assert wilcoxon_test(values, other_values) == 1  # ranks 2, 2, -2; unrounded 1.5, 3, -1.5 with 6 of 8 flips


# Holm's correction


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
