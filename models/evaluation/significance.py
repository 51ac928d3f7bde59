"""Standard errors of means, two paired tests over queries, and Holm's correction.

The project uses the randomisation test of Smucker, Allan and Carterette (CIKM 2007); Wilcoxon's (1945) is for
comparison with papers that use it.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

_FLIPS: Final = 9999
_FLIPS_AT_ONCE: Final = 100
_DECIMALS: Final = 12
"""Decimals of a difference that decide its rank; the others are rounding."""
_Values: TypeAlias = npt.NDArray[np.float64]
RESOLUTION: Final = 1 / (1 + _FLIPS)
"""The smallest p-value of drawn sign flips; the exact p-value may be smaller."""


def standard_error(values: npt.NDArray[np.float64]) -> float:
    """The standard error of a mean over queries.

        s / sqrt(n),  s^2 = sum (value - mean)^2 / (n - 1)

    Args:
      values: a metric of n queries, at least two: float [queries].

    Example:
      >>> standard_error(np.array([0.0, 1.0, 0.0, 1.0]))  # s^2 = 4 * 1/4 / 3; sqrt(1/3) / 2
      0.2886...
    """
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def randomisation_test(
    values: npt.NDArray[np.float64], other_values: npt.NDArray[np.float64], *, two_sided: bool
) -> float:
    """The p-value of a model whose mean is below another's (one-sided), or differs from it (two-sided).

    If two models are equally good, the difference of each query may have either sign. The p-value is the share of sign
    flips whose mean difference is at most the observed one; two-sided, at least as far from 0. For few queries all sign
    flips are counted, otherwise the observed signs and 9,999 flips drawn with a fixed seed. (SciPy's test takes 60 s
    for 20,000 queries.)

    Args:
      values, other_values: a metric of the same queries with the two models, float [queries].
      two_sided: whether a mean above the other's also counts against equality.

    Returns:
      the p-value, in (0, 1].

    Example:
      >>> values, other_values = np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.4, 0.6])
      >>> randomisation_test(values, other_values, two_sided=False)  # one of the eight flips: no sign changed
      0.125
      >>> randomisation_test(values, other_values, two_sided=True)  # two of them: no sign changed, and all three
      0.25
    """
    differences = values - other_values
    queries: int = len(differences)
    if 2**queries <= _FLIPS:
        flips = np.array(list(product((False, True), repeat=queries)))
        return _as_extreme(flips, differences, two_sided) / len(flips)
    generator = np.random.default_rng(0)
    drawn = 0
    for start in range(0, _FLIPS, _FLIPS_AT_ONCE):
        rows = min(_FLIPS_AT_ONCE, _FLIPS - start)
        drawn += _as_extreme(generator.random((rows, queries), np.float32) < 0.5, differences, two_sided)
    return (1 + drawn) / (1 + _FLIPS)


def _as_extreme(flips: npt.NDArray[np.bool_], differences: npt.NDArray[np.float64], two_sided: bool) -> int:
    """The number of flips, bool [flips, queries], with a sum as low, or as far from 0, as that of the differences."""
    rounding = 1e-12 * len(differences)
    total, flipped = differences.sum(), flips @ differences
    # The flipped differences change their signs, so the sum becomes total - 2 * flipped.
    as_extreme = np.abs(total - 2 * flipped) >= abs(total) - rounding if two_sided else flipped >= -rounding
    return int(np.count_nonzero(as_extreme))


def wilcoxon_test(values: npt.NDArray[np.float64], other_values: npt.NDArray[np.float64]) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test, with zeros as Pratt (1959).

        W = sum sign(d) rank(|d|),  d = value - other value

    All differences are ranked, equal ones with their mean rank, and zeros are then left out. The p-value is the share
    of sign flips whose W is at least as far from 0 as the observed one: of all flips if few differences are not zero,
    otherwise by the normal approximation without a correction for continuity.

    Args:
      values, other_values: a metric of the same queries with the two models, float [queries].

    Returns:
      the p-value, in [0, 1]; 1 where no query differs.

    Example:
      >>> values, other_values = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.3, 0.5, 0.7])
      >>> wilcoxon_test(values, other_values)  # ranks 2, 3, 4, all negative: two of the eight flips
      0.25
    """
    from scipy import stats  # takes half a second, and only reports need it

    differences = np.round(values - other_values, _DECIMALS)
    unequal = differences != 0
    if 2 ** int(np.count_nonzero(unequal)) <= _FLIPS:
        ranks = stats.rankdata(np.abs(differences))[unequal] * np.sign(differences[unequal])
        return randomisation_test(ranks, np.zeros(len(ranks)), two_sided=True)
    result = stats.wilcoxon(differences, zero_method="pratt", alternative="two-sided", method="approx")
    return float(result.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction (1979): p-values for all comparisons together.

    The k-th smallest of m p-values is multiplied by m - k + 1, and is at least the one before it and at most 1.

    Example:
      >>> holm([0.01, 0.04, 0.03])  # 3 * 0.01; 2 * 0.03; 1 * 0.04, and not below 0.06
      [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for smaller, row in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - smaller) * p_values[row]))
        corrected[row] = highest
    return corrected


class Comparison(NamedTuple):
    """A comparison of a metric of two systems."""

    difference: float
    """The mean over queries of the first system minus that of the second."""
    p_value: float
    """The p-value, after Holm's correction once all comparisons are known."""
    is_bound: bool
    """Whether the p-value is the test's resolution, so that the true value may be smaller."""

    @property
    def p_text(self) -> str:
        """The p-value for a reader."""
        return "≤\N{NO-BREAK SPACE}" * self.is_bound + f"{self.p_value:.4f}"


def compare_pairs(pairs: Iterable[tuple[_Values, _Values]]) -> list[Comparison]:
    """Compares pairs of systems by two-sided randomisation tests, with Holm's correction over all of them.

    Args:
      pairs: a metric of the same queries with two systems, float [queries] each.
    """
    tests = [
        (float(np.mean(values - other_values)), randomisation_test(values, other_values, two_sided=True))
        for values, other_values in pairs
    ]
    corrected = holm([p_value for _, p_value in tests])
    return [
        Comparison(difference, p_corrected, p_value == RESOLUTION)
        for (difference, p_value), p_corrected in zip(tests, corrected, strict=True)
    ]
