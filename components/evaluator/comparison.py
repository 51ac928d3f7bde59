"""Whether a model is significantly worse than the one before it: a paired test over queries."""

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_FLIPS = 9999
_FLIPS_AT_ONCE = 100


class Comparison(NamedTuple):
    """A model beside the last pushed one, on the same lists."""

    version: str
    """The last pushed model's."""
    metric: str
    """The metric that is compared."""
    value: float
    """The model's mean."""
    last_value: float
    """The last pushed model's mean."""
    p_value: float
    """See `p_value_of_worse`."""
    significance: float
    """The model is significantly worse where `p_value` lies below this."""

    @property
    def is_worse(self) -> bool:
        """Whether the model is significantly worse."""
        return self.p_value < self.significance


def p_value_of_worse(values: npt.NDArray[np.float64], last_values: npt.NDArray[np.float64]) -> float:
    """One-sided paired randomisation test (Smucker, Allan and Carterette, CIKM 2007).

    If the two models are equally good, each query's difference might as well have the other sign. The p-value is the
    share of sign flips whose mean difference is as low as the one seen, or lower: of all of them where the queries are
    few, else of that one and 9,999 that are drawn with a fixed seed. (SciPy's takes 60 s for 20,000 queries.)

    Args:
      values, last_values: a metric of the same queries with the two models, float [queries].

    Example:
      >>> p_value_of_worse(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.4, 0.6]))  # one flip of eight: none
      0.125
    """
    differences = values - last_values
    queries: int = len(differences)
    if 2**queries <= _FLIPS:
        flips = np.array(list(product((False, True), repeat=queries)))
        return _as_low(flips, differences) / len(flips)
    generator = np.random.default_rng(0)
    drawn = 0
    for start in range(0, _FLIPS, _FLIPS_AT_ONCE):
        rows = min(_FLIPS_AT_ONCE, _FLIPS - start)
        drawn += _as_low(generator.random((rows, queries), np.float32) < 0.5, differences)
    return (1 + drawn) / (1 + _FLIPS)


def _as_low(flips: npt.NDArray[np.bool_], differences: npt.NDArray[np.float64]) -> int:
    """How many flips (bool [flips, queries]) do not raise the mean: what a flip turns sums to 0 or more."""
    rounding = 1e-12 * len(differences)
    return int(np.count_nonzero(flips @ differences >= -rounding))
