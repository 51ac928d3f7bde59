"""How far two distributions are apart (Lin 1991)."""

import numpy as np
import numpy.typing as npt

_Weights = npt.NDArray[np.float64]


def jensen_shannon(one: _Weights, other: _Weights) -> float:
    """The Jensen-Shannon divergence of two distributions, in bits.

        M = (P + Q) / 2
        JS(P, Q) = (KL(P, M) + KL(Q, M)) / 2

    Args:
      one, other: weights >= 0 of the same things, float [things], which need not sum up to 1.

    Returns:
      from 0, where they are equal, to 1, where nothing has a weight in both.

    Raises:
      ValueError: one has no weight above 0.

    Example:
      >>> jensen_shannon(np.array([2.0, 0.0]), np.array([0.0, 3.0])), jensen_shannon(np.ones(2), np.ones(2))
      (1.0, 0.0)
    """
    if not (one.sum() > 0 and other.sum() > 0):
        raise ValueError(f"weights must not all be 0; their sums are {one.sum():g} and {other.sum():g}.")
    parts = [one / one.sum(), other / other.sum()]
    middle = (parts[0] + parts[1]) / 2
    divergence = sum(float(np.sum(part[part > 0] * np.log2(part[part > 0] / middle[part > 0]))) for part in parts) / 2
    return min(max(divergence, 0.0), 1.0)
