"""Proposition 1 (arXiv:2011.00701): how steep and how curved a loss is in the score, for the losses of one document."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class LossConstants(NamedTuple):
    """What a loss never exceeds, for any grade, at scores in [-1, 1]."""

    lipschitz: float
    """Magnitude of its derivative in the score."""
    smoothness: float
    """Magnitude of its second derivative."""
    largest: float
    """Its value: Theorem 3's M."""


def loss_constants(name: str, theta: Sequence[float] | None) -> LossConstants | None:
    """The constants of a loss; None for one that is no sum over documents.

    SOSL, MSE and 3-Part-L2 are squared distances, so with the largest distance D of a score from where its grade
    belongs, the derivative is at most 2 D, its own at most 2 and the loss at most D^2. For SOSL

        2 D = max over y of max(2 |1 + theta_{y-1}|, 2 |1 - theta_y|) <= 4,

    which is the paper's. Proportional odds is convex in the score, so its value and derivative are largest at -1 or 1;
    each of its two logistic terms has a second derivative of at most 1/4. The last but its smoothness, which is a
    bound, are all reached.

    Args:
      name: the loss, as in a configuration.
      theta: its thresholds, if it has any.

    Example:
      >>> loss_constants("sosl", (0.2, 0.7))  # an MR document at -1 is 1 + 0.7 from its band
      LossConstants(lipschitz=3.4, smoothness=2.0, largest=2.88...)
    """
    if theta is None:
        return None
    bands = list(pairwise((-1.0, *theta, 1.0)))
    match name:
        case "sosl":
            return _of_squared_distance(max(max(1 + low, 1 - high) for low, high in bands))
        case "mse":
            return _of_squared_distance(max(1 + abs(low + high) / 2 for low, high in bands))
        case "three_part_l2":
            return _of_squared_distance(max(1 - theta[0], 1 - theta[1], 1 + theta[2]))
        case "proportional_odds":
            ends = [(score - high, low - score) for low, high in bands for score in (-1.0, 1.0)]
            slope = max(abs(_sigmoid(above) - _sigmoid(below)) for above, below in ends)
            return LossConstants(slope, 0.5, max(_softplus(above) + _softplus(below) for above, below in ends))
    return None


def _of_squared_distance(distance: float) -> LossConstants:
    return LossConstants(2 * distance, 2.0, distance**2)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _softplus(x: float) -> float:
    return math.log1p(math.exp(x))
