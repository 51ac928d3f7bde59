"""What is known of every loss, beside its tensors: one entry each. Importing this file does not import TensorFlow."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple

from models.losses.proposition_1 import LossConstants, of_logistic_penalties, of_squared_distance

Interval = tuple[float, float]
Theta = Sequence[float]

ENDS: Final[Interval] = (-1.0, 1.0)
"""theta_0 and theta_K, between which the thresholds lie, where a scorer declares no others: those of a cosine."""
BANDS: Final = (0.2, 0.7)
"""The thresholds of the paper's experiments, which bound the bands of three grades."""
PARTS: Final = (0.2, 0.55, 0.9)
"""The thresholds of 3-Part-L2 in the code of the paper's authors."""


def theta_fault(theta: Theta, ends: Interval = ENDS) -> str | None:
    """Why thresholds are none, if so.

    Example:
      >>> theta_fault((0.7, 0.2))
      'must increase strictly within (-1, 1); got [0.7, 0.2]'
    """
    if theta and all(low < high for low, high in _bands(theta, ends)):
        return None
    return f"must increase strictly within ({ends[0]:g}, {ends[1]:g}); got {list(theta)}"


def _bands(theta: Theta, ends: Interval) -> list[Interval]:
    """What lies between neighbouring thresholds: a band for each grade."""
    return list(pairwise((ends[0], *theta, ends[1])))


def _middles(theta: Theta, ends: Interval) -> list[Interval]:
    """The middle of each grade's band."""
    return [((low + high) / 2,) * 2 for low, high in _bands(theta, ends)]


def _parts(theta: Theta, ends: Interval) -> list[Interval]:
    """Below the first threshold for NR, below the second for SR, above the third for MR."""
    return [(-inf, theta[0]), (-inf, theta[1]), (theta[2], inf)]


def _no_targets(theta: Theta, ends: Interval) -> list[Interval]:
    return []


def _no_constants(theta: Theta, ends: Interval) -> LossConstants | None:
    return None


class LossDeclaration(NamedTuple):
    """What a loss needs of a configuration, what it aims at, and what Proposition 1 says of it.

    Where it has thresholds, `targets` and `constants` are functions of theta_1 .. theta_{K-1} and of (theta_0,
    theta_K), the ends of the scores' scale.
    """

    keras_class: str
    """A `RankingLoss`. With thresholds it takes `theta` and `ends`; where it can learn them, `learn_theta`."""
    default_theta: tuple[float, ...] | None = None
    """What a null `loss.theta` stands for; None where the loss has no thresholds."""
    theta_length: int | None = None
    """The number of thresholds it takes, if any; None for as many as `data.top_grade`."""
    top_grade: int | None = None
    """The only `data.top_grade` it is defined for; None for any."""
    fixed_theta: str | None = "which has no thresholds"
    """Why its thresholds cannot be learned; None where they can."""
    targets: Callable[[Theta, Interval], list[Interval]] = _no_targets
    """The lowest and the highest score of the least loss, for each grade; empty where a score alone has no loss."""
    constants: Callable[[Theta, Interval], LossConstants | None] = _no_constants
    """Its Lipschitz constant, its smoothness and its largest value; None where they are not known."""


LOSSES = {
    "sosl": LossDeclaration(
        "models.losses.sosl.SmoothOrdinalSearchLoss",
        BANDS,
        fixed_theta=None,
        targets=_bands,
        constants=lambda theta, ends: of_squared_distance(_bands(theta, ends), ends),
    ),
    "mse": LossDeclaration(
        "models.losses.mse.MeanSquaredErrorLoss",
        BANDS,
        fixed_theta="whose targets would follow the scores",
        targets=_middles,
        constants=lambda theta, ends: of_squared_distance(_middles(theta, ends), ends),
    ),
    "proportional_odds": LossDeclaration(
        "models.losses.proportional_odds.ProportionalOddsLoss",
        BANDS,
        fixed_theta=None,
        targets=_middles,
        constants=lambda theta, ends: of_logistic_penalties(_bands(theta, ends), ends),
    ),
    "three_part_l2": LossDeclaration(
        "models.losses.three_part_l2.ThreePartL2Loss",
        PARTS,
        theta_length=3,
        top_grade=2,
        fixed_theta="of whose thresholds none bounds two grades, so that nothing would hold them",
        targets=_parts,
        constants=lambda theta, ends: of_squared_distance(_parts(theta, ends), ends),
    ),
    "softmax": LossDeclaration("models.losses.tf_ranking.SoftmaxLoss"),
    "approx_ndcg": LossDeclaration("models.losses.tf_ranking.ApproxNdcgLoss"),
    "pairwise_hinge": LossDeclaration("models.losses.tf_ranking.PairwiseHingeLoss"),
}
"""Every loss by its name in a configuration."""
