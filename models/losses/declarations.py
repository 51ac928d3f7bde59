"""The table of losses: everything about a loss but its tensors. Importing this file does not import TensorFlow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Annotated, Final

from pydantic import Field

from models.choices import Declaration
from models.losses.proposition_1 import LossConstants, logistic_constants, squared_distance_constants
from schemas.settings import Settings

Interval = tuple[float, float]
Theta = Sequence[float]

ENDS: Final[Interval] = (-1.0, 1.0)
"""theta_0 and theta_K, the ends of a cosine's scale; thresholds lie between them unless a scorer declares others."""
BANDS: Final = (0.2, 0.7)
"""The thresholds of the paper's experiments; they bound the bands of three grades."""
PARTS: Final = (0.2, 0.55, 0.9)
"""The thresholds of 3-Part-L2 in the code of the paper's authors."""


def number_of_thresholds(top_grade: int) -> int:
    """The number of thresholds for the grades 0 .. top_grade: one below each grade above 0, but two for binary grades.

    The band between these two belongs to no grade. With one threshold, no document would score too high or too low if
    all scored exactly the threshold, and nothing would be learned.
    """
    return max(top_grade, 2)


def thresholds_for(top_grade: int) -> tuple[float, ...]:
    """The thresholds that a null `loss.theta` stands for: the paper's, and others evenly spaced between these.

    Example:
      >>> thresholds_for(1), thresholds_for(2), thresholds_for(3)
      ((0.2, 0.7), (0.2, 0.7), (0.2, 0.45, 0.7))
    """
    (low, high), number = BANDS, number_of_thresholds(top_grade)
    return tuple(round(low + (high - low) * index / (number - 1), 3) for index in range(number))


def theta_fault(theta: Theta, ends: Interval = ENDS) -> str | None:
    """Returns an error message for invalid thresholds, or None.

    Example:
      >>> theta_fault((0.7, 0.2))
      'must increase strictly within (-1, 1); got [0.7, 0.2]'
    """
    if theta and all(low < high for low, high in _bands(theta, ends)):
        return None
    return f"must increase strictly within ({ends[0]:g}, {ends[1]:g}); got {list(theta)}"


def _bands(theta: Theta, ends: Interval) -> list[Interval]:
    """Returns the band of each grade, between neighbouring thresholds."""
    return list(pairwise((ends[0], *theta, ends[1])))


def _middles(theta: Theta, ends: Interval) -> list[Interval]:
    """Returns the middle of each grade's band."""
    return [((low + high) / 2,) * 2 for low, high in _bands(theta, ends)]


def _parts(theta: Theta, ends: Interval) -> list[Interval]:
    """Returns the targets of 3-Part-L2: NR below the first threshold, SR below the second, MR above the third."""
    return [(-inf, theta[0]), (-inf, theta[1]), (theta[2], inf)]


@dataclass(frozen=True)
class LossDeclaration(Declaration):
    """A loss: its demands on a configuration, its targets, and its constants in Proposition 1.

    The class is a `models.losses.ranking_loss.RankingLoss`. With thresholds it takes `theta` and `ends`; where it can
    learn them, also `learn_theta`. `targets` and `constants` are functions of theta_1 .. theta_{K-1} and of
    (theta_0, theta_K), the ends of the scores' scale.

    Attributes:
      default_theta: the thresholds of the paper's grades; None: the loss has no thresholds.
      theta_length: the number of thresholds; None: `number_of_thresholds`.
      top_grade: the only `data.top_grade` that the loss is defined for; None: any.
      fixed_theta: the reason why thresholds cannot be learned; None: they can.
      targets: returns the interval of scores with the smallest loss, for each band; empty where a single score has
        no loss.
      constants: returns the Lipschitz constant, the smoothness and the largest value; None where they are unknown.
    """

    default_theta: tuple[float, ...] | None = None
    theta_length: int | None = None
    top_grade: int | None = None
    fixed_theta: str | None = "which has no thresholds"
    targets: Callable[[Theta, Interval], list[Interval]] = lambda theta, ends: []
    constants: Callable[[Theta, Interval], LossConstants | None] = lambda theta, ends: None

    def targets_of_grades(self, theta: Theta, ends: Interval, top_grade: int) -> list[Interval]:
        """Returns the target of each grade: that of its band, and for the highest grade that of the last band."""
        targets = self.targets(theta, ends)
        return [*targets[:top_grade], *targets[-1:]]


class WorstHingeSettings(Settings):
    """Settings of the loss worst_hinge."""

    margin: Annotated[float, Field(ge=0, le=1e12)] = 0.2
    """Distance, in scores, that the MR document is to keep above the others."""


LOSSES: Final[dict[str, LossDeclaration]] = {
    "sosl": LossDeclaration(
        "models.losses.sosl.SmoothOrdinalSearchLoss",
        default_theta=BANDS,
        fixed_theta=None,
        targets=_bands,
        constants=lambda theta, ends: squared_distance_constants(_bands(theta, ends), ends),
    ),
    "mse": LossDeclaration(
        "models.losses.mse.MeanSquaredErrorLoss",
        default_theta=BANDS,
        fixed_theta="whose targets would follow the scores",
        targets=_middles,
        constants=lambda theta, ends: squared_distance_constants(_middles(theta, ends), ends),
    ),
    "proportional_odds": LossDeclaration(
        "models.losses.proportional_odds.ProportionalOddsLoss",
        default_theta=BANDS,
        fixed_theta=None,
        targets=_middles,
        constants=lambda theta, ends: logistic_constants(_bands(theta, ends), ends),
    ),
    "three_part_l2": LossDeclaration(
        "models.losses.three_part_l2.ThreePartL2Loss",
        default_theta=PARTS,
        theta_length=3,
        top_grade=2,
        fixed_theta="of whose thresholds none bounds two grades, so that nothing would hold them",
        targets=_parts,
        constants=lambda theta, ends: squared_distance_constants(_parts(theta, ends), ends),
    ),
    "softmax": LossDeclaration("models.losses.tf_ranking.SoftmaxLoss"),
    "approx_ndcg": LossDeclaration("models.losses.tf_ranking.ApproxNdcgLoss"),
    "pairwise_hinge": LossDeclaration("models.losses.tf_ranking.PairwiseHingeLoss"),
    "worst_hinge": LossDeclaration("models.losses.worst_hinge.WorstHingeLoss", WorstHingeSettings),
    "log_likelihood": LossDeclaration("models.losses.log_likelihood.LogLikelihoodLoss"),
}
"""Losses by their names in `loss.name`."""
