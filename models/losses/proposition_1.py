"""Proposition 1 (arXiv:2011.00701): how steep and how curved a loss is in the score, for the losses of one document.

Which loss is of which kind stands in its entry of `models.losses.declarations`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple


class LossConstants(NamedTuple):
    """What a loss never exceeds, for any grade, at scores between the ends of their scale."""

    lipschitz: float
    """Magnitude of its derivative in the score."""
    smoothness: float
    """Magnitude of its second derivative."""
    largest: float
    """Its value: Theorem 3's M."""


def of_squared_distance(targets: Sequence[tuple[float, float]], ends: tuple[float, float]) -> LossConstants:
    """The constants of a squared distance of the score to where its grade belongs: SOSL, MSE and 3-Part-L2.

    With D, the largest such distance, the derivative is at most 2 D, its own at most 2, and the loss at most D^2. All
    are reached. For SOSL and the ends -1 and 1

        2 D = max over y of max(2 |1 + theta_{y-1}|, 2 |1 - theta_y|) <= 4,

    which is the paper's.

    Args:
      targets: the lowest and the highest score without loss, for each grade.
      ends: the lowest and the highest score that there is.

    Example:
      >>> of_squared_distance([(-1, 0.2), (0.2, 0.7), (0.7, 1)], (-1, 1))  # an MR document at -1 is 1 + 0.7 away
      LossConstants(lipschitz=3.4, smoothness=2.0, largest=2.88...)
    """
    distance = max(max(low - ends[0], ends[1] - high) for low, high in targets)
    return LossConstants(2 * distance, 2.0, distance**2)


def of_logistic_penalties(bands: Sequence[tuple[float, float]], ends: tuple[float, float]) -> LossConstants:
    """The constants of softplus(r - high) + softplus(low - r) for a grade's band [low, high]: proportional odds.

    It is convex in the score r, so its value and derivative are largest at an end, and reached there. Each of the two
    terms has a second derivative of at most 1/4: their sum is a bound, which is reached in a band without width.

    Args:
      bands: of each grade.
      ends: the lowest and the highest score that there is.

    Example:
      >>> constants = of_logistic_penalties([(-1, 0), (0, 1)], (-1, 1))
      >>> round(constants.largest, 4)  # of the band (0, 1) at -1: log(1 + exp(-2)) + log(1 + exp(1))
      1.4402
    """
    distances = [(score - high, low - score) for low, high in bands for score in ends]
    slope = max(abs(_sigmoid(above) - _sigmoid(below)) for above, below in distances)
    return LossConstants(slope, 0.5, max(_softplus(above) + _softplus(below) for above, below in distances))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _softplus(x: float) -> float:
    return math.log1p(math.exp(x))
