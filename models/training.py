"""Training of a ranker under a `tf.distribute` strategy: a plain loop, watched in TensorBoard."""

import logging
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.lazy_adam import LazyAdam
from models.list_evaluator import EvalFigures, ListEvaluator
from models.lists import RankingLists, epoch_order
from models.losses.band_loss import BandLoss, weights_of
from models.ranker import Ranker
from models.settings import TrainingSettings
from models.training_checkpoint import TrainingCheckpoint, TrainingProgress
from models.training_log import SCORES, TrainingLog
from models.training_steps import TrainingSteps
from schemas.errors import DataError

log = logging.getLogger("clir.training")
progress_log = logging.getLogger("clir.progress")

_STEPS_PER_CALL = 50
# A collective within a graph's loop keeps the shape of its first step, and gradients of embeddings change theirs.
_STEPS_PER_CALL_OF_REPLICAS = 1


@dataclass(frozen=True)
class TrainingResult:
    """What training reached.

    Attributes:
      best_epoch: the epoch (from 1) whose weights the ranker holds.
      best_value: its value of `best_metric` on the eval split.
      history: one row an epoch: learning rate, loss, gradient norms, learned thresholds, and the eval split's metrics,
        scores and score gradients.
      pairs_per_second: query-document pairs trained per second of training, without evaluation.
      steps: updates of the weights, over all epochs.
      theta: the thresholds that the best epoch learned; None where the loss learns none.
    """

    best_epoch: int
    best_value: float
    history: list[dict[str, Any]]
    pairs_per_second: float
    steps: int
    theta: list[float] | None


def train(
    ranker: Ranker,
    loss: keras.losses.Loss,
    train_lists: RankingLists,
    eval_lists: RankingLists,
    top_grade: int,
    strategy: tf.distribute.Strategy,
    settings: TrainingSettings,
    log_dir: str,
    checkpoint_dir: str,
) -> TrainingResult:
    """Trains a ranker and leaves the best epoch's weights in it.

    The same lists, settings and devices give the same weights: the order of the lists follows from their query ids,
    the seed and the epoch. What does not fill a batch is left for another epoch's order. A training that was killed
    goes on where its checkpoint is, and gives the same weights, too.

    Args:
      ranker: made within `strategy.scope()`.
      loss: without reduction: it returns one value a list. One that learns is made within `strategy.scope()`, too.
      train_lists, eval_lists: lists of the two splits.
      top_grade: the MR grade.
      strategy: see `models.devices`.
      settings: see there.
      log_dir: where TensorBoard's events go.
      checkpoint_dir: a folder for this training alone: same lists, ranker, loss, settings and code.

    Raises:
      DataError: the scores are NaN or infinite, there are too few lists, or the checkpoint cannot be read.
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
        ranker(train_lists.batch(tf.constant([0]))[0])  # builds it
        optimizer = LazyAdam(settings.learning_rate_in(epoch=1), settings.number("embedding_factor"))
        optimizer.build([*ranker.trainable_variables, *weights_of(loss)])
    checkpoint = TrainingCheckpoint(checkpoint_dir, ranker, weights_of(loss), optimizer)
    checkpoint.restore()
    progress = checkpoint.progress
    training_steps = TrainingSteps(ranker, loss, optimizer, strategy, settings.clip_norm)
    evaluator = ListEvaluator(ranker, eval_lists, top_grade)
    batches = _batches(train_lists, strategy, settings, steps, batch, first_epoch=progress.epoch + 1)
    started, first_epoch = time.monotonic(), progress.epoch
    with TrainingLog(log_dir) as training_log:
        for row in progress.history:
            training_log.write(row)
        while progress.epoch < settings.epochs and not _patience_is_spent(progress, settings):
            epoch_started = time.monotonic()
            optimizer.learning_rate = learning_rate = settings.learning_rate_in(progress.epoch + 1)
            parts = []
            for start in range(0, steps, steps_per_call):
                parts.append(training_steps.run(batches, tf.constant(min(steps_per_call, steps - start))))
                done = progress.epoch + min(start + steps_per_call, steps) / steps
                left = (time.monotonic() - started) / (done - first_epoch) * (settings.epochs - done)
                progress_log.info("epoch %d/%d, %s left", progress.epoch + 1, settings.epochs, _duration(left))
            losses, norms = (np.concatenate([part[i].numpy() for part in parts]) for i in range(2))
            progress.seconds += time.monotonic() - epoch_started
            progress.pairs += train_lists.pairs * steps * batch / len(train_lists)
            figures = evaluator.evaluate()
            progress.epoch += 1
            row = {
                "epoch": progress.epoch,
                "train/learning_rate": learning_rate,
                **_step_figures(losses, norms, settings.clip_norm),
                **{f"theta/{y}": threshold for y, threshold in enumerate(_learned_theta(loss) or [], 1)},
                **_eval_figures(figures, ranker.similarity.gradient_bound),
            }
            training_log.write(row)
            progress.history.append(row)
            value = figures.metrics[settings.best_metric]
            if value > progress.best_value:
                progress.best_value, progress.best_epoch = value, progress.epoch
                checkpoint.keep_best()
            checkpoint.save()
            progress_log.info(
                "epoch %d/%d, loss %.5f, eval %s %.4f, best %.4f (epoch %d), %s pairs/s, %s left",
                *(progress.epoch, settings.epochs, losses.mean(), settings.best_metric, value),
                *(progress.best_value, progress.best_epoch, f"{progress.pairs / progress.seconds:,.0f}"),
                _duration(
                    (time.monotonic() - started) / (progress.epoch - first_epoch) * (settings.epochs - progress.epoch)
                ),
            )
    if progress.epoch < settings.epochs:
        log.info(
            "stopped after epoch %d: no better %s since epoch %d",
            *(progress.epoch, settings.best_metric, progress.best_epoch),
        )
    checkpoint.use_best()
    return TrainingResult(
        best_epoch=progress.best_epoch,
        best_value=progress.best_value,
        history=progress.history,
        pairs_per_second=progress.pairs / progress.seconds,
        steps=steps * progress.epoch,
        theta=_learned_theta(loss),
    )


def _step_figures(
    losses: npt.NDArray[np.float32], norms: npt.NDArray[np.float32], clip_norm: float
) -> dict[str, float]:
    """An epoch's figures of the train split, from those of its steps."""
    return {
        "train/loss": float(losses.mean()),
        "train/gradient_norm_mean": float(norms.mean()),
        "train/gradient_norm_max": float(norms.max()),
        "train/clipped_share": float((norms > clip_norm).mean()),
    }


def _eval_figures(figures: EvalFigures, gradient_bound: float) -> dict[str, Any]:
    """An epoch's figures of the eval split; JSON has no infinite bound."""
    bound = {"score_gradient/bound": gradient_bound} if math.isfinite(gradient_bound) else {}
    return {
        **{f"eval/{key}": value for key, value in figures.metrics.items()},
        "score_gradient/max": figures.largest_score_gradient,
        "score_gradient/plain_cosine_max": figures.largest_plain_cosine_gradient,
        **bound,
        SCORES: figures.scores,
    }


def _learned_theta(loss: keras.losses.Loss) -> list[float] | None:
    """The thresholds as they are now, if the loss learns any."""
    return loss.current_theta() if isinstance(loss, BandLoss) and loss.learn_theta else None


def _patience_is_spent(progress: TrainingProgress, settings: TrainingSettings) -> bool:
    """Whether training stops before its last epoch."""
    return settings.patience is not None and progress.epoch - progress.best_epoch >= settings.patience


def _batches(
    lists: RankingLists,
    strategy: tf.distribute.Strategy,
    settings: TrainingSettings,
    steps: int,
    batch: int,
    first_epoch: int,
) -> Iterator[Any]:
    """The batches of all epochs to come, one iterator for all: each replica's lists are consecutive rows."""
    epochs = range(first_epoch, settings.epochs + 1)
    orders = [epoch_order(lists.query_ids, settings.seed, epoch)[: steps * batch] for epoch in epochs]
    rows = np.concatenate([*orders, np.zeros(0, np.int32)]).reshape(-1, batch // strategy.num_replicas_in_sync)
    dataset = tf.data.Dataset.from_tensor_slices(rows).map(lists.batch, num_parallel_calls=1).prefetch(4)
    options = tf.data.Options()
    # There is nothing to tune, and with the tuner or the strategy's iterator, closing it sometimes took many seconds.
    options.autotune.enabled = False
    dataset = dataset.with_options(options)
    if strategy.num_replicas_in_sync == 1:
        return iter(dataset)
    batches: Iterator[Any] = iter(strategy.distribute_datasets_from_function(lambda _: dataset))
    return batches


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
