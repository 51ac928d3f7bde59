"""Training of a ranker under a `tf.distribute` strategy: a plain loop, watched in TensorBoard."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow import keras

from models.lazy_adam import LazyAdam
from models.list_evaluator import ListEvaluator
from models.lists import RankingLists, epoch_order
from models.ranker import Ranker
from models.settings import TrainingSettings
from models.training_steps import TrainingSteps
from schemas.errors import DataError

log = logging.getLogger("clir.training")
progress = logging.getLogger("clir.progress")

_FLUSH_MILLISECONDS = 10_000
_STEPS_PER_CALL = 50
# A collective within a graph's loop keeps the shape of its first step, and gradients of embeddings change theirs.
_STEPS_PER_CALL_OF_REPLICAS = 1


@dataclass(frozen=True)
class TrainingResult:
    """What training reached.

    Attributes:
      best_epoch: the epoch (from 1) whose weights the ranker holds.
      best_value: its value of `best_metric` on the eval split.
      history: one row an epoch: loss, gradient norms and eval metrics.
      pairs_per_second: query-document pairs trained per second of training, without evaluation.
    """

    best_epoch: int
    best_value: float
    history: list[dict[str, float]]
    pairs_per_second: float


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
      DataError: the scores are NaN or infinite, or there are too few lists.
    """
    replicas = strategy.num_replicas_in_sync
    batch = min(settings.batch_lists, len(train_lists) // replicas * replicas)
    if batch == 0 or len(eval_lists) == 0:
        raise DataError(
            f"training needs a train list for each of {replicas} replicas, and an eval list; got {len(train_lists)} "
            f"train lists and {len(eval_lists)} eval lists."
        )
    steps = len(train_lists) // batch
    steps_per_call = _STEPS_PER_CALL if replicas == 1 else _STEPS_PER_CALL_OF_REPLICAS
    with strategy.scope():
        optimizer = LazyAdam(settings.learning_rate)
    training_steps = TrainingSteps(ranker, loss, optimizer, strategy, settings.clip_norm)
    batches = _batches(train_lists, strategy, settings, steps, batch)
    evaluator = ListEvaluator(ranker, eval_lists, top_grade)
    history: list[dict[str, float]] = []
    best_value, best_epoch, best_weights = -1.0, 0, ranker.get_weights()
    # Flushing waits for the disk: an epoch of a small collection takes less time than that may.
    writer = tf.summary.create_file_writer(log_dir, flush_millis=_FLUSH_MILLISECONDS)
    started, training_seconds, trained_pairs = time.monotonic(), 0.0, 0.0
    for epoch in _epochs(settings):
        epoch_started = time.monotonic()
        parts = []
        for start in range(0, steps, steps_per_call):
            parts.append(training_steps.run(batches, tf.constant(min(steps_per_call, steps - start))))
            done = epoch - 1 + min(start + steps_per_call, steps) / steps
            left = (time.monotonic() - started) / done * (settings.epochs - done)
            progress.info("epoch %d/%d, %s left", epoch, settings.epochs, _duration(left))
        losses, norms = (np.concatenate([part[i].numpy() for part in parts]) for i in range(2))
        training_seconds += time.monotonic() - epoch_started
        trained_pairs += train_lists.pairs * steps * batch / len(train_lists)
        metrics = evaluator.metrics()
        figures = {
            "train/loss": float(losses.mean()),
            "train/gradient_norm_mean": float(norms.mean()),
            "train/gradient_norm_max": float(norms.max()),
            "train/clipped_share": float((norms > settings.clip_norm).mean()),
            **{f"eval/{key}": value for key, value in metrics.items()},
        }
        with writer.as_default(step=epoch):
            for key, value in figures.items():
                tf.summary.scalar(key, value)
        history.append({"epoch": epoch, **figures})
        value = metrics[settings.best_metric]
        if value > best_value:
            best_value, best_epoch, best_weights = value, epoch, ranker.get_weights()
        progress.info(
            "epoch %d/%d, loss %.5f, eval %s %.4f, best %.4f (epoch %d), %s pairs/s, %s left",
            *(epoch, settings.epochs, losses.mean(), settings.best_metric, value, best_value, best_epoch),
            f"{trained_pairs / training_seconds:,.0f}",
            _duration((time.monotonic() - started) / epoch * (settings.epochs - epoch)),
        )
        if settings.patience and epoch - best_epoch >= settings.patience:
            log.info("stopped after epoch %d: no better %s since epoch %d", epoch, settings.best_metric, best_epoch)
            break
    writer.close()
    ranker.set_weights(best_weights)
    return TrainingResult(
        best_epoch=best_epoch,
        best_value=best_value,
        history=history,
        pairs_per_second=trained_pairs / training_seconds,
    )


def _batches(
    lists: RankingLists, strategy: tf.distribute.Strategy, settings: TrainingSettings, steps: int, batch: int
) -> Iterator[Any]:
    """The batches of all epochs, one iterator for all: each replica's lists are consecutive rows."""
    orders = [epoch_order(lists.query_ids, settings.seed, epoch)[: steps * batch] for epoch in _epochs(settings)]
    rows = np.concatenate(orders).reshape(-1, batch // strategy.num_replicas_in_sync)
    dataset = tf.data.Dataset.from_tensor_slices(rows).map(lists.batch, num_parallel_calls=1).prefetch(4)
    options = tf.data.Options()
    # There is nothing to tune, and with the tuner or the strategy's iterator, closing it sometimes took many seconds.
    options.autotune.enabled = False
    dataset = dataset.with_options(options)
    if strategy.num_replicas_in_sync == 1:
        return iter(dataset)
    batches: Iterator[Any] = iter(strategy.distribute_datasets_from_function(lambda _: dataset))
    return batches


def _epochs(settings: TrainingSettings) -> range:
    """The numbers of the epochs, from 1."""
    return range(1, settings.epochs + 1)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
