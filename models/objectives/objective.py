"""Training objectives: a ranker, and the loss that its training minimises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import RankingLoss
from models.losses.settings import ENDS, LossSettings
from models.rankers.ranker import Ranker
from models.rankers.scorer import Joint


class ListLosses(NamedTuple):
    """An objective's losses of a batch."""

    losses: tf.Tensor
    """Loss of each list, float [batch]; a step minimises the sum of their mean and the means of the other terms."""
    figures: dict[str, tf.Tensor] = {}
    """Other figures of each list or of the batch, by name; an epoch's history shows their means as `train/<name>`."""
    scored: "ScoredLists | None" = None
    """The scored lists; None if the scorer lacks joint representations."""
    other_terms: dict[str, tf.Tensor] = {}
    """Other terms of the loss, by name, each float [any number]. The history shows the norm of each term's gradient as
    `train/<name>_gradient_norm`."""


class ScoredLists(NamedTuple):
    """The lists that an objective scored: those of the batch, or documents drawn from them."""

    labels: tf.Tensor
    """Grades, float [batch, list_size]; negative for padding."""
    joint: Joint
    """Joint representations of the queries and of documents in columns of these lists."""


class OwnOptimizer(NamedTuple):
    """An optimizer for variables of an objective that the training's optimizer does not update."""

    optimizer: keras.optimizers.Optimizer
    variables: Sequence[tf.Variable]


class Objective(tf.Module, ABC):
    """A ranker and the loss that its training minimises; made within `strategy.scope()`.

    Args:
      ranker: the ranker that is trained, and exported afterwards.
    """

    def __init__(self, ranker: Ranker) -> None:
        super().__init__()
        self.ranker = ranker

    @abstractmethod
    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        """Returns the losses of a batch's lists.

        Args:
          features, labels: see `RankingLists.batch`.
        """

    def build(self, features: dict[str, Any]) -> None:
        """Creates all weights; within `strategy.scope()`.

        Args:
          features: the features of a list or more, see `RankingLists.batch`.
        """
        self.ranker(features)

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """All variables that a step updates: the ranker's, and the objective's own."""
        variables: list[tf.Variable] = self.ranker.trainable_variables
        return variables

    @property
    def own_optimizers(self) -> list[OwnOptimizer]:
        """The objective's own optimizers, each for a part of the trainable variables; empty, as here, for most.

        An objective must hold them as attributes, so that a checkpoint saves their state.
        """
        return []

    @property
    def alternates(self) -> bool:
        """Whether a step first updates the variables of `own_optimizers`, and then, from new losses, all others."""
        return False

    @property
    def variables(self) -> list[tf.Variable]:
        """All variables that are kept at the best epoch: the ranker's weights, and all other trained variables."""
        own = {id(variable) for variable in self.ranker.variables}
        own_variables = [variable for variable in self.trainable_variables if id(variable) not in own]
        return [*self.ranker.variables, *own_variables]

    def current_theta(self) -> list[float]:
        """Returns the current thresholds between the grades; empty without thresholds."""
        return []

    def figures(self) -> dict[str, float]:
        """Returns figures of the objective at the end of an epoch, by the names that the history shows."""
        figures: dict[str, float] = self.ranker.figures()
        return figures


class RankingObjective(Objective):
    """The mean of a loss over the lists, as in the paper.

    Args:
      ranker: see `Objective`.
      loss: the loss, without reduction: it returns a value per list.
    """

    def __init__(self, ranker: Ranker, loss: RankingLoss) -> None:
        super().__init__(ranker)
        self.loss = loss
        self.loss_variables = loss.trainable_variables  # tracked here, because a checkpoint does not see a Keras loss

    @classmethod
    def make(cls, ranker: Ranker, settings: LossSettings, top_grade: int, seed: int, **own: Any) -> "RankingObjective":
        """Makes the objective and the loss of a configuration.

        Args:
          ranker: the ranker.
          settings: the settings of the loss.
          top_grade: the MR grade.
          seed: seeds the objective's draws.
          **own: the objective's own settings.
        """
        return cls(ranker, make_loss(settings, top_grade, ranker.theta_ends), **own)

    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        """Returns the losses of a batch's lists."""
        scores, joint = self.ranker.score_and_join(features, training=True)
        scored = ScoredLists(labels, joint) if joint else None
        return ListLosses(self.loss(labels, scores), scored=scored, other_terms=self.ranker.penalties())

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """The ranker's variables and the loss's."""
        return [*super().trainable_variables, *self.loss_variables]

    def current_theta(self) -> list[float]:
        """Returns the loss's current thresholds."""
        return self.loss.current_theta()

    def figures(self) -> dict[str, float]:
        """Returns the ranker's figures and the loss's."""
        return {**super().figures(), **self.loss.figures()}


def make_loss(settings: LossSettings, top_grade: int, ends: tuple[float, float] = ENDS) -> RankingLoss:
    """Makes the loss of a configuration, without reduction; within `strategy.scope()` if it has variables.

    Args:
      settings: the loss and its thresholds.
      top_grade: the MR grade.
      ends: the lowest and the highest score of the scorer, between which thresholds lie.
    """
    arguments = settings.arguments(top_grade, ends)
    loss: RankingLoss = settings.load()(**arguments, reduction=keras.losses.Reduction.NONE)
    return loss
