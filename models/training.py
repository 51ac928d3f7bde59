"""Training of a ranker under a `tf.distribute` strategy: a plain loop, watched in TensorBoard."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.lazy_adam import LazyAdam
from models.lists import RankingLists, epoch_order
from models.metrics import mean_metrics, ranked_grades
from models.ranker import Ranker
from models.settings import TrainingSettings

log = logging.getLogger("clir.training")
progress = logging.getLogger("clir.progress")

_SCORING_BATCH = 64
_STEPS_PER_CALL = 50


@dataclass(frozen=True)
class TrainingResult:
    """What training reached.

    Attributes:
      best_epoch: the epoch (from 1) whose weights the ranker holds.
      metrics: its eval-split metrics.
      history: one row an epoch: loss, gradient norms and eval metrics.
      pairs_per_second: query-document pairs trained per second of training, without evaluation.
    """

    best_epoch: int
    metrics: dict[str, float]
    history: list[dict[str, float]]
    pairs_per_second: float


class _Trainer:
    """The compiled steps of one training: they hold the ranker, its optimizer and the strategy."""

    def __init__(
        self, ranker: Ranker, loss: keras.losses.Loss, strategy: tf.distribute.Strategy, settings: TrainingSettings
    ) -> None:
        self.ranker = ranker
        self.loss = loss
        self.strategy = strategy
        self.clip_norm = settings.clip_norm
        with strategy.scope():
            self.optimizer = LazyAdam(settings.learning_rate)

    def _replica_step(self, features: dict[str, tf.Tensor], labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """One step on one replica's lists: (mean loss of its lists, norm of the whole gradient)."""
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.loss(labels, self.ranker(features, training=True)))
        variables = self.ranker.trainable_variables
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
    def steps(self, batches: Iterator[object], count: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """`count` steps: the loss and the gradient norm of each, float [count]."""
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


class ListEvaluator:
    """Scores the lists of a split with a ranker, compiled once for many epochs.

    Args:
      ranker: what scores.
      lists: the lists.
      top_grade: the MR grade.
    """

    def __init__(self, ranker: Ranker, lists: RankingLists, top_grade: int) -> None:
        self.top_grade = top_grade
        self._splits = lists.documents.row_splits.numpy()
        self._query_ids = lists.query_ids
        documents = lists.documents.flat_values.numpy()
        self._doc_ids = [ids.tolist() for ids in self._per_list(np.asarray(lists.doc_ids, object)[documents])]
        self._grades = self._per_list(lists.grades.flat_values.numpy().astype(np.int64))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def score(rows: tf.Tensor) -> tf.Tensor:
            features, _ = lists.batch(rows)
            return tf.boolean_mask(ranker(features, training=False), features["document_index"] >= 0)

        self._score = score

    def _per_list(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        return np.split(values, self._splits[1:-1])

    def scores(self) -> list[npt.NDArray[np.float32]]:
        """float32 [list_size] for each list, in the lists' order."""
        starts = range(0, len(self._query_ids), _SCORING_BATCH)
        rows = np.arange(len(self._query_ids), dtype=np.int32)
        return self._per_list(np.concatenate([self._score(rows[i : i + _SCORING_BATCH]).numpy() for i in starts]))

    def metrics(self) -> dict[str, float]:
        """The mean of each of the seven metrics (see `models.metrics`).

        Raises:
          DataError: a score is NaN or infinite.
        """
        return mean_metrics(ranked_grades(self._query_ids, self._doc_ids, self.scores(), self._grades), self.top_grade)


def train(
    ranker: Ranker,
    loss: keras.losses.Loss,
    train_lists: RankingLists,
    eval_lists: RankingLists,
    top_grade: int,
    strategy: tf.distribute.Strategy,
    settings: TrainingSettings,
    log_dir: str,
) -> TrainingResult:
    """Trains a ranker and leaves the best epoch's weights in it.

    The same lists, settings and devices give the same weights: the order of the lists follows from their query ids,
    the seed and the epoch. What does not fill a batch is left for another epoch's order.

    Args:
      ranker: made within `strategy.scope()`.
      loss: without reduction: it returns one value a list.
      train_lists, eval_lists: lists of the two splits.
      top_grade: the MR grade.
      strategy: see `models.devices`.
      settings: see there.
      log_dir: where TensorBoard's events go.

    Raises:
      DataError: the scores are NaN or infinite.
    """
    replicas = strategy.num_replicas_in_sync
    batch = min(settings.batch_lists, len(train_lists) // replicas * replicas)
    steps = len(train_lists) // batch
    trainer = _Trainer(ranker, loss, strategy, settings)
    orders = [
        epoch_order(train_lists.query_ids, settings.seed, epoch)[: steps * batch]
        for epoch in range(1, settings.epochs + 1)
    ]
    rows = np.concatenate(orders).reshape(-1, batch // replicas)
    batches = iter(
        strategy.distribute_datasets_from_function(
            lambda _: tf.data.Dataset.from_tensor_slices(rows).map(train_lists.batch, num_parallel_calls=1).prefetch(4)
        )
    )
    evaluator = ListEvaluator(ranker, eval_lists, top_grade)
    history: list[dict[str, float]] = []
    best: tuple[float, int, list[npt.NDArray[np.float32]]] | None = None
    writer = tf.summary.create_file_writer(log_dir)
    started, training_seconds, trained_pairs = time.monotonic(), 0.0, 0.0
    for epoch in range(1, settings.epochs + 1):
        epoch_started = time.monotonic()
        parts = []
        for start in range(0, steps, _STEPS_PER_CALL):
            parts.append(trainer.steps(batches, tf.constant(min(_STEPS_PER_CALL, steps - start))))
            done = epoch - 1 + min(start + _STEPS_PER_CALL, steps) / steps
            left = (time.monotonic() - started) / done * (settings.epochs - done)
            progress.info("epoch %d/%d, %s left", epoch, settings.epochs, _duration(left))
        losses, norms = (np.concatenate([part[i].numpy() for part in parts]) for i in range(2))
        training_seconds += time.monotonic() - epoch_started
        trained_pairs += train_lists.pairs * steps * batch / len(train_lists)
        metrics = evaluator.metrics()
        row = {
            "loss": float(losses.mean()),
            "gradient_norm_mean": float(norms.mean()),
            "gradient_norm_max": float(norms.max()),
            "clipped_share": float((norms > settings.clip_norm).mean()),
        }
        history.append({"epoch": epoch, **row, **metrics})
        with writer.as_default(step=epoch):
            for key, value in row.items():
                tf.summary.scalar(f"train/{key}", value)
            for key, value in metrics.items():
                tf.summary.scalar(f"eval/{key}", value)
        writer.flush()
        value = metrics[settings.best_metric]
        if best is None or value > best[0]:
            best = (value, epoch, ranker.get_weights())
        progress.info(
            "epoch %d/%d, loss %.5f, eval %s %.4f, best %.4f (epoch %d), %s pairs/s, %s left",
            *(epoch, settings.epochs, row["loss"], settings.best_metric, value, best[0], best[1]),
            f"{trained_pairs / training_seconds:,.0f}",
            _duration((time.monotonic() - started) / epoch * (settings.epochs - epoch)),
        )
        if settings.patience and epoch - best[1] >= settings.patience:
            log.info("stopped after epoch %d: no better %s since epoch %d", epoch, settings.best_metric, best[1])
            break
    writer.close()
    if best is None:
        raise ValueError("training.epochs must be at least 1.")
    ranker.set_weights(best[2])
    return TrainingResult(
        best_epoch=best[1],
        metrics={key: value for key, value in history[best[1] - 1].items() if key in metrics},
        history=history,
        pairs_per_second=trained_pairs / training_seconds,
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
