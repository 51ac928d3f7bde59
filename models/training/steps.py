"""Compiled training steps: forward, backward, clipping and update, under a `tf.distribute` strategy."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
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
RELEVANCE = "relevance"
"""The name of the first term of a loss with others."""


class TrainingSteps:
    """Runs many training steps in a single call of a graph, because leaving the graph costs as much as a small step.

    The objective's own optimizers update their variables, and the training's optimizer all others. If the objective
    alternates, its own optimizers come first, and the training's optimizer takes the gradient after these updates.

    Args:
      objective: the objective, whose mean loss over a batch's lists is minimised.
      optimizer: the training's optimizer, made within the scope of the ranker's strategy.
      clip_norm: the gradient of each optimizer is scaled down to this global norm, over all replicas.
    """

    def __init__(self, objective: Objective, optimizer: keras.optimizers.Optimizer, clip_norm: float) -> None:
        self.objective = objective
        own = objective.own_optimizers
        owned = {variable.ref() for _, variables in own for variable in variables}
        main = OwnOptimizer(
            optimizer, [variable for variable in objective.trainable_variables if variable.ref() not in owned]
        )
        self._turns = [own, [main]] if objective.alternates and own else [[main, *own]]
        self.strategy = objective.ranker.distribute_strategy
        self.clip_norm = clip_norm
        self.replicas = self.strategy.num_replicas_in_sync
        self._figures: list[str] = []

    def build(self) -> None:
        """Creates the state of all optimizers, which a checkpoint restores; within the strategy's scope."""
        for optimizer, variables in chain(*self._turns):
            optimizer.build(variables)

    def run(self, batches: Iterator[Any], count: int) -> dict[str, npt.NDArray[np.float32]]:
        """Runs a number of steps.

        Args:
          batches: the strategy's iterator of (features, labels), see `RankingLists.batch`; all replicas take equally
            many lists of a batch.
          count: number of steps.

        Returns:
          `loss`, the minimised sum; `gradient_norm`, the global norm, before clipping, of the gradient of the
          training's optimizer; and the objective's figures: float32 [count] each. With other terms also the norms of
          each term's gradient in the same variables, on a replica's lists.
        """
        table = self._run(batches, tf.constant(count)).numpy()
        return dict(zip((LOSS, GRADIENT_NORM, *self._figures), table.T, strict=True))

    def _replica_step(self, features: dict[str, tf.Tensor], labels: tf.Tensor) -> tf.Tensor:
        """Runs a step on a replica's lists; returns float [figures], loss and gradient norm first."""
        *earlier, last = self._turns
        for optimizers in earlier:
            self._take_turn(optimizers, features, labels)
        figures = self._take_turn(last, features, labels)
        self._figures = [name for name in figures if name not in (LOSS, GRADIENT_NORM)]  # as the graph is traced
        return tf.stack([*figures.values()])

    def _take_turn(
        self, optimizers: Sequence[OwnOptimizer], features: dict[str, tf.Tensor], labels: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Updates the variables of optimizers; returns the figures, with the gradient norm of the first optimizer."""
        with tf.GradientTape(persistent=True) as tape:
            losses = self.objective(features, labels)
            terms = {RELEVANCE: tf.reduce_mean(losses.losses)}
            terms |= {name: tf.reduce_mean(values) for name, values in losses.other_terms.items()}
        variables = [variable for _, moved in optimizers for variable in moved]
        term_gradients = {name: tape.gradient(value, variables) for name, value in terms.items()}
        del tape
        gradients = iter([_sum(parts) for parts in zip(*term_gradients.values(), strict=True)])
        norms = [self._update(optimizer, list(islice(gradients, len(moved))), moved) for optimizer, moved in optimizers]
        figures = {LOSS: tf.add_n([*terms.values()]), GRADIENT_NORM: norms[0], **losses.figures}
        if losses.other_terms:
            moved_first = len(optimizers[0].variables)
            figures |= {f"{name}_{GRADIENT_NORM}": _norm(parts[:moved_first]) for name, parts in term_gradients.items()}
        return {name: tf.reduce_mean(tf.cast(value, tf.float32)) for name, value in figures.items()}

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


def _sum(gradients: Sequence[Any]) -> Any:
    """Returns the sum of a variable's gradients; None without any."""
    known = [gradient for gradient in gradients if gradient is not None]
    if len(known) < 2:
        return known[0] if known else None
    if not any(isinstance(gradient, tf.IndexedSlices) for gradient in known):
        return tf.add_n(known)
    values, indices = (tf.concat([getattr(part, name) for part in known], axis=0) for name in ("values", "indices"))
    return merge_rows(tf.IndexedSlices(values, indices, known[0].dense_shape))


def _norm(gradients: Sequence[Any]) -> tf.Tensor:
    """Returns the global norm of gradients; missing ones count as 0."""
    return tf.linalg.global_norm([merge_rows(gradient) for gradient in gradients if gradient is not None])


def _scale(gradient: tf.Tensor | tf.IndexedSlices, factor: float) -> tf.Tensor | tf.IndexedSlices:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices)
    return gradient * factor
