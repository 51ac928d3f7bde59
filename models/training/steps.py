"""Compiled training steps: forward, backward, clipping and update, under a `tf.distribute` strategy."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.graphs import graph_function
from models.objectives.objective import Objective, OwnOptimizer
from models.optimizers.lazy_adam import merge_rows

LOSS = "loss"
GRADIENT_NORM = "gradient_norm"


class TrainingSteps:
    """Runs many training steps in one call of a graph, because leaving the graph costs as much as a small step.

    An optimizer of the objective's own moves its variables; all others are moved by the training's optimizer.

    Args:
      objective: its mean loss over a batch's lists is minimised.
      optimizer: made within the scope of the ranker's strategy.
      clip_norm: the gradient of each optimizer is scaled down to this global norm, over all replicas.
    """

    def __init__(self, objective: Objective, optimizer: keras.optimizers.Optimizer, clip_norm: float) -> None:
        self.objective = objective
        own = objective.own_optimizers
        owned = {variable.ref() for _, variables in own for variable in variables}
        main = [variable for variable in objective.trainable_variables if variable.ref() not in owned]
        self.optimizers = [OwnOptimizer(optimizer, main), *own]
        self.strategy = objective.ranker.distribute_strategy
        self.clip_norm = clip_norm
        self.replicas = self.strategy.num_replicas_in_sync
        self._figures: list[str] = []

    def build(self) -> None:
        """Creates the state of all optimizers, which a checkpoint restores; within the strategy's scope."""
        for optimizer, variables in self.optimizers:
            optimizer.build(variables)

    def run(self, batches: Iterator[Any], count: int) -> dict[str, npt.NDArray[np.float32]]:
        """Runs some steps.

        Args:
          batches: the strategy's iterator of (features, labels), see `RankingLists.batch`; all replicas take equally
            many lists of a batch.
          count: number of steps.

        Returns:
          `loss`, the mean over a batch's lists; `gradient_norm`, the global norm, before clipping, of the gradient of
          the training's optimizer; and the objective's figures: float32 [count] each.
        """
        table = self._run(batches, tf.constant(count)).numpy()
        return dict(zip((LOSS, GRADIENT_NORM, *self._figures), table.T, strict=True))

    def _replica_step(self, features: dict[str, tf.Tensor], labels: tf.Tensor) -> tf.Tensor:
        """Runs one step on one replica's lists; returns float [figures], loss and gradient norm first."""
        with tf.GradientTape() as tape:
            losses, figures = self.objective(features, labels)
            loss = tf.reduce_mean(losses)
        gradients = iter(tape.gradient(loss, [one for _, variables in self.optimizers for one in variables]))
        norms = [
            self._update(optimizer, list(islice(gradients, len(variables))), variables)
            for optimizer, variables in self.optimizers
        ]
        self._figures = list(figures)  # as the graph is traced
        return tf.stack([loss, norms[0], *(tf.reduce_mean(tf.cast(one, tf.float32)) for one in figures.values())])

    def _update(
        self, optimizer: keras.optimizers.Optimizer, gradients: list[Any], variables: Sequence[tf.Variable]
    ) -> tf.Tensor:
        """Applies an optimizer's clipped gradients; returns their global norm before clipping."""
        if self.replicas > 1:
            context = tf.distribute.get_replica_context()
            summed = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
            gradients = [_scale(merge_rows(gradient), 1 / self.replicas) for gradient in summed]
        clipped, norm = tf.clip_by_global_norm(gradients, self.clip_norm)
        optimizer.apply_gradients(zip(clipped, variables, strict=True), skip_gradients_aggregation=True)
        return norm

    @graph_function
    def _run(self, batches: Iterator[Any], count: tf.Tensor) -> tf.Tensor:
        """Returns the figures of `count` steps: float [count, figures]."""

        def step(number: tf.Tensor, table: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            figures = self.strategy.run(self._replica_step, args=next(batches))
            mean = self.strategy.reduce(tf.distribute.ReduceOp.MEAN, figures, axis=None)
            return number + 1, table.write(number, mean)

        start = (tf.constant(0), tf.TensorArray(tf.float32, count))
        _, table = tf.while_loop(lambda number, _: number < count, step, start)
        return table.stack()


def _scale(gradient: tf.Tensor | tf.IndexedSlices, factor: float) -> tf.Tensor | tf.IndexedSlices:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices)
    return gradient * factor
