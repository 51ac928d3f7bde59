"""What a training minimises."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import tensorflow as tf

from models.losses.ranking_loss import RankingLoss
from models.rankers.ranker import Ranker


class ListLosses(NamedTuple):
    """What an objective makes of a batch."""

    losses: tf.Tensor
    """Of each list, float [batch]; a step minimises their mean."""
    figures: dict[str, tf.Tensor] = {}
    """Others of each list, or of the batch, by name: an epoch's history shows the mean of each as `train/<name>`."""


class Objective(tf.Module, ABC):
    """A ranker, and what it is trained towards; made within `strategy.scope()`.

    Args:
      ranker: what is trained, and exported after it.
    """

    def __init__(self, ranker: Ranker) -> None:
        super().__init__()
        self.ranker = ranker

    @abstractmethod
    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        """The losses of a batch's lists.

        Args:
          features, labels: see `RankingLists.batch`.
        """

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """What a step moves: the ranker's, and any that the objective has besides."""
        variables: list[tf.Variable] = self.ranker.trainable_variables
        return variables

    @property
    def variables(self) -> list[tf.Variable]:
        """What the best epoch's values are kept of: all weights of the ranker, and what else is trained."""
        own = {id(variable) for variable in self.ranker.variables}
        others = [variable for variable in self.trainable_variables if id(variable) not in own]
        return [*self.ranker.variables, *others]

    def figures(self) -> dict[str, float]:
        """What an epoch's history shows of the objective as it is at the epoch's end, by name."""
        figures: dict[str, float] = self.ranker.figures()
        return figures


class RankingObjective(Objective):
    """The mean of a loss over the lists, as in the paper.

    Args:
      ranker: what is trained.
      loss: without reduction: it returns one value a list.
    """

    def __init__(self, ranker: Ranker, loss: RankingLoss) -> None:
        super().__init__(ranker)
        self.loss = loss
        self.loss_variables = loss.trainable_variables  # a Keras loss is not tracked, and a checkpoint saves them

    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        """The losses of a batch's lists."""
        return ListLosses(self.loss(labels, self.ranker(features, training=True)))

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """The ranker's, and the loss's."""
        return [*super().trainable_variables, *self.loss_variables]

    def figures(self) -> dict[str, float]:
        """The ranker's, and the loss's."""
        return {**super().figures(), **self.loss.figures()}
