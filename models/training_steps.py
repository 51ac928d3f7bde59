"""The compiled training steps: forward, backward, clipping and update, under a `tf.distribute` strategy."""

from collections.abc import Iterator

import tensorflow as tf
from tensorflow import keras

from models.losses.band_loss import weights_of
from models.ranker import Ranker


class TrainingSteps:
    """Trains a ranker, many steps a call of the graph: leaving it after each would cost as much as a small step.

    Args:
      ranker: what is trained, with the thresholds of a loss that learns them.
      loss: without reduction: it returns one value a list. A batch's loss is the mean over its lists.
      optimizer: made within `strategy.scope()`, as the ranker.
      strategy: every replica takes as many lists of a batch as the others.
      clip_norm: the gradient is scaled down to this global norm, over all replicas.
    """

    def __init__(
        self,
        ranker: Ranker,
        loss: keras.losses.Loss,
        optimizer: keras.optimizers.Optimizer,
        strategy: tf.distribute.Strategy,
        clip_norm: float,
    ) -> None:
        self.ranker = ranker
        self.loss = loss
        self.optimizer = optimizer
        self.strategy = strategy
        self.clip_norm = clip_norm

    def _replica_step(self, features: dict[str, tf.Tensor], labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """One step on one replica's lists: (mean loss of its lists, norm of the whole gradient)."""
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.loss(labels, self.ranker(features, training=True)))
        variables = [*self.ranker.trainable_variables, *weights_of(self.loss)]
        gradients = tape.gradient(loss, variables)
        replicas = self.strategy.num_replicas_in_sync
        if replicas > 1:
            context = tf.distribute.get_replica_context()
            summed = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
            gradients = [_scale(_merge_rows(gradient), 1 / replicas) for gradient in summed]
        clipped, norm = tf.clip_by_global_norm(gradients, self.clip_norm)
        self.optimizer.apply_gradients(zip(clipped, variables, strict=True), skip_gradients_aggregation=True)
        return loss, norm

    @tf.function
    def run(self, batches: Iterator[object], count: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Takes `count` steps.

        Args:
          batches: iterator of the strategy's, of (features, labels) as `RankingLists.batch` makes them.
          count: int scalar.

        Returns:
          the loss and the gradient's global norm before clipping, of every step: float [count] each.
        """
        losses = tf.TensorArray(tf.float32, count)
        norms = tf.TensorArray(tf.float32, count)
        for step in tf.range(count):
            loss, norm = self.strategy.run(self._replica_step, args=next(batches))
            losses = losses.write(step, self.strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None))
            norms = norms.write(step, self.strategy.reduce(tf.distribute.ReduceOp.MEAN, norm, axis=None))
        return losses.stack(), norms.stack()


def _merge_rows(gradient: tf.Tensor | tf.IndexedSlices) -> tf.Tensor | tf.IndexedSlices:
    """Sums the slices that several replicas hold of one row."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, place = tf.unique(gradient.indices)
    return tf.IndexedSlices(tf.math.unsorted_segment_sum(gradient.values, place, tf.size(rows)), rows)


def _scale(gradient: tf.Tensor | tf.IndexedSlices, factor: float) -> tf.Tensor | tf.IndexedSlices:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices)
    return gradient * factor
