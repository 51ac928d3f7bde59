"""Proposition 1 (arXiv:2011.00701): the slope and curvature of a document's loss in its score.

`models.losses.settings` names the function of each loss.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple


class LossConstants(NamedTuple):
    """Upper bounds of a loss for all grades and all scores of the scale."""

    lipschitz: float
    """The largest magnitude of the loss's derivative in the score."""
    smoothness: float
    """The largest magnitude of the second derivative."""
    largest: float
    """The largest value: M of Theorem 3."""


def squared_distance_constants(targets: Sequence[tuple[float, float]], ends: tuple[float, float]) -> LossConstants:
    """The constants of the squared distance between a score and its grade's interval: SOSL, MSE and 3-Part-L2.

    With D, the largest such distance, the first derivative is at most 2 D, the second at most 2, and the loss at most
    D^2. All three are reached. For SOSL and the ends -1 and 1 this is the paper's constant

        2 D = max over y of max(2 |1 + theta_{y-1}|, 2 |1 - theta_y|) <= 4.

    Args:
      targets: the lowest and the highest score without loss, for each grade.
      ends: the lowest and the highest possible score.

    Example:
      >>> squared_distance_constants([(-1, 0.2), (0.2, 0.7), (0.7, 1)], (-1, 1))  # an MR document at -1 is 1 + 0.7 away
      LossConstants(lipschitz=3.4, smoothness=2.0, largest=2.88...)
    """
    distance = max(max(low - ends[0], ends[1] - high) for low, high in targets)
    return LossConstants(2 * distance, 2.0, distance**2)


def logistic_constants(bands: Sequence[tuple[float, float]], ends: tuple[float, float]) -> LossConstants:
    """The constants of softplus(r - high) + softplus(low - r) for a grade's band [low, high]: proportional odds.

    The loss is convex in the score r, so its largest value and slope are at an end. Either term has a second derivative
    of at most 1/4; the bound 1/2 is reached by a band without width.

    Args:
      bands: the band of each grade.
      ends: the lowest and the highest possible score.

    Example:
      >>> constants = logistic_constants([(-1, 0), (0, 1)], (-1, 1))
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
