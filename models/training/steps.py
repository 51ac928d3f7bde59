"""The compiled training steps: forward, backward, clipping and update, under a `tf.distribute` strategy."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.graphs import graph_function
from models.objectives.objective import Objective
from models.optimizers.lazy_adam import merge_rows

LOSS = "loss"
GRADIENT_NORM = "gradient_norm"


class TrainingSteps:
    """Trains by many steps a call of the graph: leaving it after each would cost as much as a small step.

    Args:
      objective: what is minimised.
      optimizer: made within the scope of the ranker's strategy.
      clip_norm: the gradient is scaled down to this global norm, over all replicas.
    """

    def __init__(self, objective: Objective, optimizer: keras.optimizers.Optimizer, clip_norm: float) -> None:
        self.objective = objective
        self.optimizer = optimizer
        self.strategy = objective.ranker.distribute_strategy
        self.clip_norm = clip_norm
        self.replicas = self.strategy.num_replicas_in_sync
        self._figures: list[str] = []

    def run(self, batches: Iterator[Any], count: int) -> dict[str, npt.NDArray[np.float32]]:
        """Takes some steps.

        Args:
          batches: iterator of the strategy's, of (features, labels) as `RankingLists.batch` makes them; every replica
            takes as many lists of a batch as the others.
          count: the number of steps.

        Returns:
          `loss`, the mean over a batch's lists, `gradient_norm`, the gradient's global norm before clipping, and the
          objective's figures: float32 [count] each.
        """
        table = self._run(batches, tf.constant(count)).numpy()
        return dict(zip((LOSS, GRADIENT_NORM, *self._figures), table.T, strict=True))

    def _replica_step(self, features: dict[str, tf.Tensor], labels: tf.Tensor) -> tf.Tensor:
        """One step on one replica's lists: float [figures], the first two of which are loss and gradient norm."""
        with tf.GradientTape() as tape:
            losses, figures = self.objective(features, labels)
            loss = tf.reduce_mean(losses)
        variables = self.objective.trainable_variables
        gradients = tape.gradient(loss, variables)
        if self.replicas > 1:
            context = tf.distribute.get_replica_context()
            summed = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
            gradients = [_scale(merge_rows(gradient), 1 / self.replicas) for gradient in summed]
        clipped, norm = tf.clip_by_global_norm(gradients, self.clip_norm)
        self.optimizer.apply_gradients(zip(clipped, variables, strict=True), skip_gradients_aggregation=True)
        self._figures = list(figures)  # as the graph is traced
        return tf.stack([loss, norm, *(tf.reduce_mean(tf.cast(one, tf.float32)) for one in figures.values())])

    @graph_function
    def _run(self, batches: Iterator[Any], count: tf.Tensor) -> tf.Tensor:
        """The figures of `count` steps: float [count, figures]."""

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
