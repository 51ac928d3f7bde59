"""Settings of the training loss, and its theory. Importing this file does not import TensorFlow."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import AfterValidator, Field

from models.kinds import Implemented
from models.losses.proposition_1 import LossConstants, logistic_constants, squared_distance_constants

Interval = tuple[float, float]
Theta = tuple[float, ...]

ENDS: Final[Interval] = (-1.0, 1.0)
"""theta_0 and theta_K, the ends of a cosine's scale, between which thresholds lie by default."""
BANDS: Final = (0.2, 0.7)
"""The thresholds of the paper's experiments, between the bands of three grades."""
PARTS: Final = (0.2, 0.55, 0.9)
"""The thresholds of 3-Part-L2 in the code of the paper's authors."""


def number_of_thresholds(top_grade: int) -> int:
    """The number of thresholds for the grades 0 .. top_grade: one below each grade above 0, but two for binary grades.

    The band between these two is unused. With a single threshold, documents that all score exactly the threshold would
    have no loss, and nothing would be learned.
    """
    return max(top_grade, 2)


def thresholds_for(top_grade: int) -> tuple[float, ...]:
    """The thresholds that a null `loss.theta` stands for: the paper's, and further ones evenly spaced between them.

    Example:
      >>> thresholds_for(1), thresholds_for(2), thresholds_for(3)
      ((0.2, 0.7), (0.2, 0.7), (0.2, 0.45, 0.7))
    """
    (low, high), number = BANDS, number_of_thresholds(top_grade)
    return tuple(round(low + (high - low) * index / (number - 1), 3) for index in range(number))


def theta_fault(theta: Sequence[float], ends: Interval = ENDS) -> str | None:
    """Returns an error message for invalid thresholds, or None.

    Example:
      >>> theta_fault((0.7, 0.2))
      'must increase strictly within (-1, 1); got [0.7, 0.2]'
    """
    if theta and all(low < high for low, high in _bands(theta, ends)):
        return None
    return f"must increase strictly within ({ends[0]:g}, {ends[1]:g}); got {list(theta)}"


def _bands(theta: Sequence[float], ends: Interval) -> list[Interval]:
    """Returns the band of each grade, between neighbouring thresholds."""
    return list(pairwise((ends[0], *theta, ends[1])))


def _middles(theta: Theta, ends: Interval) -> list[Interval]:
    """Returns the middle of each grade's band."""
    return [((low + high) / 2,) * 2 for low, high in _bands(theta, ends)]


def _parts(theta: Theta, ends: Interval) -> list[Interval]:
    """Returns the targets of 3-Part-L2: NR below the first threshold, SR below the second, MR above the third."""
    return [(-inf, theta[0]), (-inf, theta[1]), (theta[2], inf)]


def _checked_theta(theta: Theta | None) -> Theta | None:
    if theta is not None and (fault := theta_fault(theta)):
        raise ValueError(fault)
    return theta


class LossTheory(NamedTuple):
    """Functions of the thresholds theta_1 .. theta_{K-1} and the ends of the scale, theta_0 and theta_K."""

    targets: Callable[[Theta, Interval], list[Interval]] = lambda theta, ends: []
    """Returns the interval of scores with the smallest loss for each band; empty for losses without such intervals."""
    constants: Callable[[Theta, Interval], LossConstants | None] = lambda theta, ends: None
    """Returns the Lipschitz constant, the smoothness and the largest value (Proposition 1); None: unknown."""


class LossSettings(Implemented):
    """The training loss (paper, sections 3.4 and 5).

    Its class is a `models.losses.ranking_loss.RankingLoss`.

    Attributes:
      top_grade: the only `data.top_grade` that the loss is defined for; None: any.
      theory: functions of the loss's thresholds.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    default_kind: ClassVar[str | None] = "sosl"
    top_grade: ClassVar[int | None] = None
    theory: ClassVar[LossTheory] = LossTheory()

    kind: str
    """Kind of the loss: sosl (the paper's), mse, proportional_odds, three_part_l2 (its baselines), softmax, approx_ndcg
    and pairwise_hinge (TF-Ranking's), and the losses of Cohen et al. 2018: worst_hinge (the MR document against the
    highest score of a lower grade) and log_likelihood (the MR document in a softmax over the list)."""
    softmax_weight: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    """Weight of a second term, the cross entropy of a softmax over the scores of all documents of a step. It memorises
    relevant documents, for collections whose documents are all known in training."""
    softmax_temperature: Annotated[float, Field(ge=1e-12, le=1e12)] = 0.1
    """Divisor of the scores in the softmax of `softmax_weight`."""
    softmax_top_weight: Annotated[float, Field(ge=1e-12, le=1e12)] = 4.0
    """Weight of an MR document in the target of this softmax; a document of a lower grade above 0 has the weight 1."""

    @property
    def thresholds(self) -> Theta | None:
        """The thresholds between the grades, in [-1, 1]; None where the loss has none."""
        return None

    @property
    def learns_theta(self) -> bool:
        """Whether the thresholds are learned along with the model."""
        return False

    @property
    def takes_batch(self) -> bool:
        """Whether the documents of a step's other lists are NR documents of every list."""
        return False

    @property
    def is_over_batch(self) -> bool:
        """Whether a list's loss has terms over the documents of the step's other lists."""
        return self.takes_batch or self.softmax_weight > 0

    def arguments(self, top_grade: int, ends: Interval) -> dict[str, Any]:
        """Returns the arguments of the loss's class.

        Args:
          top_grade: the MR grade.
          ends: theta_0 and theta_K, the ends of the scores' scale.
        """
        return {}

    def for_grades(self, top_grade: int) -> "LossSettings":
        """Returns the settings with thresholds where they are null."""
        return self

    def fault_for(self, top_grade: int) -> str | None:
        """Returns an error message if the loss cannot be trained on grades 0 .. top_grade, or None."""
        if self.top_grade in (None, top_grade):
            return None
        return f"{self.kind} is only defined for data.top_grade {self.top_grade}; got {top_grade}"

    def targets_of_grades(self, top_grade: int, ends: Interval = ENDS) -> list[Interval]:
        """Returns the target of each grade, which is that of its band; the highest grade has the last band."""
        targets = self.theory.targets(self.thresholds or (), ends)
        return [*targets[:top_grade], *targets[-1:]]


class ThresholdLossSettings(LossSettings):
    """A loss with thresholds between the grades."""

    theta: Annotated[tuple[float, ...] | None, AfterValidator(_checked_theta)] = None
    """Thresholds, increasing within (-1, 1): as many as `data.top_grade`, but two for binary grades, with an unused
    band between them; three_part_l2 has three. null: the paper's (0.2, 0.7; three_part_l2: 0.2, 0.55, 0.9), and for
    more grades further ones evenly spaced between them."""
    in_batch: bool = False
    """Count the documents of a step's other lists as NR documents of every list, with the same total weight as its own
    documents."""

    @property
    def thresholds(self) -> Theta | None:
        """`theta`, or the paper's thresholds of three grades."""
        return self.theta or BANDS

    @property
    def takes_batch(self) -> bool:
        """`in_batch`."""
        return self.in_batch

    def arguments(self, top_grade: int, ends: Interval) -> dict[str, Any]:
        """Returns the arguments of the loss's class."""
        return {"theta": self.thresholds, "top_grade": top_grade, "ends": ends}

    def for_grades(self, top_grade: int) -> LossSettings:
        """Returns the settings with thresholds where they are null."""
        return self if self.theta is not None else self.model_copy(update={"theta": thresholds_for(top_grade)})

    def fault_for(self, top_grade: int) -> str | None:
        """Returns an error message if the loss cannot be trained on grades 0 .. top_grade, or None."""
        expected = number_of_thresholds(top_grade)
        if self.theta is None or len(self.theta) == expected:
            return super().fault_for(top_grade)
        return (
            f"theta must hold {expected} thresholds for {self.kind} and data.top_grade {top_grade}, or be null; got "
            f"{list(self.theta)}"
        )


class LearnedThresholdLossSettings(ThresholdLossSettings):
    """A loss whose thresholds can be learned."""

    learn_theta: bool = False
    """Learn the thresholds along with the model, starting from `theta`."""

    @property
    def learns_theta(self) -> bool:
        """`learn_theta`."""
        return self.learn_theta

    def arguments(self, top_grade: int, ends: Interval) -> dict[str, Any]:
        """Returns the arguments of the loss's class."""
        return {**super().arguments(top_grade, ends), "learn_theta": self.learn_theta}

    def fault_for(self, top_grade: int) -> str | None:
        """Returns an error message if the loss cannot be trained on grades 0 .. top_grade, or None."""
        if self.learn_theta and top_grade == 1:
            return "learn_theta must be false with data.top_grade 1, where two thresholds would merge; got true"
        return super().fault_for(top_grade)


@LossSettings.add
class SoslSettings(LearnedThresholdLossSettings):
    """Smooth Ordinal Search Loss (paper, eq. 2)."""

    implementation: ClassVar[str] = "models.losses.sosl.SmoothOrdinalSearchLoss"
    theory: ClassVar[LossTheory] = LossTheory(
        _bands, lambda theta, ends: squared_distance_constants(_bands(theta, ends), ends)
    )

    kind: Literal["sosl"] = "sosl"


@LossSettings.add
class MseSettings(ThresholdLossSettings):
    """Squared distance to the middle of each grade's band."""

    implementation: ClassVar[str] = "models.losses.mse.MeanSquaredErrorLoss"
    theory: ClassVar[LossTheory] = LossTheory(
        _middles, lambda theta, ends: squared_distance_constants(_middles(theta, ends), ends)
    )

    kind: Literal["mse"] = "mse"


@LossSettings.add
class ProportionalOddsSettings(LearnedThresholdLossSettings):
    """The likelihood of a grade by cumulative odds."""

    implementation: ClassVar[str] = "models.losses.proportional_odds.ProportionalOddsLoss"
    theory: ClassVar[LossTheory] = LossTheory(
        _middles, lambda theta, ends: logistic_constants(_bands(theta, ends), ends)
    )

    kind: Literal["proportional_odds"] = "proportional_odds"


@LossSettings.add
class ThreePartL2Settings(ThresholdLossSettings):
    """3-Part-L2 in the code of the paper's authors."""

    implementation: ClassVar[str] = "models.losses.three_part_l2.ThreePartL2Loss"
    theory: ClassVar[LossTheory] = LossTheory(
        _parts, lambda theta, ends: squared_distance_constants(_parts(theta, ends), ends)
    )
    top_grade: ClassVar[int | None] = 2

    kind: Literal["three_part_l2"] = "three_part_l2"

    @property
    def thresholds(self) -> Theta | None:
        """`theta`, or those of the paper's authors."""
        return self.theta or PARTS

    def for_grades(self, top_grade: int) -> LossSettings:
        """Returns the settings with thresholds where they are null."""
        return self.model_copy(update={"theta": self.thresholds})

    def fault_for(self, top_grade: int) -> str | None:
        """Returns an error message if the loss cannot be trained on grades 0 .. top_grade, or None."""
        if self.theta is not None and len(self.theta) != len(PARTS):
            return f"theta must hold {len(PARTS)} thresholds for {self.kind}, or be null; got {list(self.theta)}"
        return LossSettings.fault_for(self, top_grade)


@LossSettings.add
class SoftmaxSettings(LossSettings):
    """TF-Ranking's softmax over a list."""

    implementation: ClassVar[str] = "models.losses.tf_ranking.SoftmaxLoss"

    kind: Literal["softmax"] = "softmax"


@LossSettings.add
class ApproxNdcgSettings(LossSettings):
    """TF-Ranking's approximation of nDCG."""

    implementation: ClassVar[str] = "models.losses.tf_ranking.ApproxNdcgLoss"

    kind: Literal["approx_ndcg"] = "approx_ndcg"


@LossSettings.add
class PairwiseHingeSettings(LossSettings):
    """TF-Ranking's hinge of all pairs of a list."""

    implementation: ClassVar[str] = "models.losses.tf_ranking.PairwiseHingeLoss"

    kind: Literal["pairwise_hinge"] = "pairwise_hinge"


@LossSettings.add
class WorstHingeSettings(LossSettings):
    """The MR document against the highest score of a lower grade (Cohen et al. 2018)."""

    implementation: ClassVar[str] = "models.losses.worst_hinge.WorstHingeLoss"

    kind: Literal["worst_hinge"] = "worst_hinge"
    margin: Annotated[float, Field(ge=0, le=1e12)] = 0.2
    """Difference, in scores, by which the MR document should exceed the others."""

    def arguments(self, top_grade: int, ends: Interval) -> dict[str, Any]:
        """Returns the arguments of the loss's class."""
        return {"margin": self.margin}


@LossSettings.add
class LogLikelihoodSettings(LossSettings):
    """The MR document in a softmax over the list (Cohen et al. 2018)."""

    implementation: ClassVar[str] = "models.losses.log_likelihood.LogLikelihoodLoss"

    kind: Literal["log_likelihood"] = "log_likelihood"
