"""The training loop under a `tf.distribute` strategy, watched in TensorBoard."""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.lists.ranking_lists import RankingLists
from models.lists.training_batches import training_batches
from models.objectives.objective import Objective
from models.optimizers.lazy_adam import LazyAdam
from models.time_left import TimeLeft
from models.training.checkpoint import TrainingCheckpoint, TrainingProgress
from models.training.list_evaluator import ListEvaluator, score_bins
from models.training.settings import TrainingSettings
from models.training.steps import GRADIENT_NORM, LOSS, TrainingSteps
from models.training.workers import Chief
from schemas.errors import DataError
from schemas.relevance import grade_name
from schemas.training_history import THETA, Epoch, TrainingHistory

_HISTOGRAM = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="histograms"))

# Flushing waits for the disk, which may take longer than an epoch of a small collection.
_FLUSH_MILLISECONDS = 10_000


class TrainingLog:
    """Writes the epochs of a training's history as scalars and histograms.

    Args:
      folder: folder of the events; None writes nothing.
    """

    def __init__(self, folder: str | None) -> None:
        self._writer = (
            tf.summary.create_noop_writer()
            if folder is None
            else tf.summary.create_file_writer(folder, flush_millis=_FLUSH_MILLISECONDS)
        )

    def close(self) -> None:
        """Writes the remaining events."""
        self._writer.close()

    def write(self, epoch: Epoch) -> None:
        """Writes one epoch."""
        with self._writer.as_default(step=epoch.epoch):
            for name, value in epoch.figures.items():
                tf.summary.scalar(name, value)
            top_grade = max(map(int, epoch.scores.counts), default=0)
            for grade, counts in epoch.scores.counts.items():
                _write_histogram(f"scores/{grade_name(int(grade), top_grade)}", counts, epoch.scores.limit)


def _write_histogram(tag: str, counts: list[int], limit: float) -> None:
    """Writes a histogram from counts; TensorFlow's own function takes the values."""
    bins = score_bins(limit)
    buckets = np.stack([bins[:-1], bins[1:], np.asarray(counts, np.float64)], axis=1)
    tf.summary.write(tag, buckets, metadata=_HISTOGRAM)


log = logging.getLogger("clir.training")
progress_log = logging.getLogger("clir.progress")

_STEPS_PER_CALL = 50
# A collective in a graph's loop keeps the shape of its first step, but gradients of embeddings change their shapes.
_STEPS_PER_CALL_OF_REPLICAS = 1


def train(
    objective: Objective,
    train_lists: RankingLists,
    evaluator: ListEvaluator,
    settings: TrainingSettings,
    log_dir: str,
    checkpoint_dir: str,
    held_out_texts: RankingLists | None = None,
) -> TrainingHistory:
    """Minimises an objective, and leaves the best epoch's weights in it.

    The same lists, settings and devices give the same weights: the order of the lists depends only on their query ids,
    the seed and the epoch. An epoch leaves out the last lists, which do not fill a batch. A killed training resumes
    from its checkpoint and gives the same weights. Several workers give the same weights as a single device on the same
    batches, and all return the same history; only the chief writes, and only its eval metrics count.

    Args:
      objective: the objective, made within the scope of its ranker's strategy.
      train_lists: lists of the train split.
      evaluator: evaluates the ranker on the eval split, to choose the best epoch.
      settings: the settings of the training.
      log_dir: folder of TensorBoard's events.
      checkpoint_dir: folder only for trainings with the same lists, objective, settings and code.
      held_out_texts: see `models.lists.training_batches.training_batches`.

    Raises:
      DataError: the scores are NaN or infinite, the lists are too few, or the checkpoint cannot be read.
    """
    strategy = objective.ranker.distribute_strategy
    chief = Chief(strategy)
    batch = _lists_of_a_step(train_lists, evaluator, settings, strategy.num_replicas_in_sync)
    steps, all_epochs = len(train_lists) // batch, settings.epochs_of(len(train_lists))
    with strategy.scope():
        objective.build(train_lists.batch(tf.constant([0]))[0])
        optimizer = make_optimizer(settings)
        training_steps = TrainingSteps(objective, optimizer, settings.clip_norm)
        training_steps.build()
    checkpoint = TrainingCheckpoint(checkpoint_dir, objective, optimizer, writes=chief.is_here)
    checkpoint.restore()
    progress = checkpoint.progress
    _check_start(progress.epoch, int(chief.value(progress.epoch)), checkpoint_dir)
    epochs = range(progress.epoch + 1, all_epochs + 1)
    equal = settings.sampling == "equal"
    batches = training_batches(train_lists, strategy, settings.seed, epochs, batch, equal, held_out_texts)
    left = TimeLeft(progress.epoch, all_epochs)
    with closing(TrainingLog(log_dir if chief.is_here else None)) as training_log:
        for row in progress.history:
            training_log.write(row)
        while progress.epoch < all_epochs and not _patience_is_spent(progress, settings):
            epoch_started = time.monotonic()
            optimizer.learning_rate = learning_rate = settings.learning_rate_in(progress.epoch + 1, all_epochs)
            step_figures = _train_epoch(training_steps, batches, steps, progress.epoch, all_epochs, left)
            progress.seconds += time.monotonic() - epoch_started
            progress.pairs += train_lists.pairs * steps * batch / len(train_lists)
            figures = evaluator.evaluate()
            progress.epoch += 1
            row = Epoch.model_validate(
                {
                    "epoch": progress.epoch,
                    "scores": figures.scores,
                    "train/learning_rate": learning_rate,
                    **_train_figures(step_figures, settings.clip_norm),
                    **objective.figures(),
                    **{f"eval/{key}": value for key, value in figures.metrics.items()},
                    **{
                        f"eval/{key}/{name}": value
                        for name, metrics in figures.channels.items()
                        for key, value in metrics.items()
                    },
                    **figures.watched,
                }
            )
            training_log.write(row)
            progress.history.append(row)
            value = chief.value(figures.metrics[settings.best_metric])
            if value > progress.best_value:
                progress.best_value, progress.best_epoch = value, progress.epoch
                checkpoint.keep_best()
            checkpoint.save()
            progress_log.info(
                "epoch %d/%d, loss %.5f, eval %s %.4f, best %.4f (epoch %d), %s pairs/s, %s left",
                *(progress.epoch, all_epochs, row.figures["train/loss"], settings.best_metric, value),
                *(progress.best_value, progress.best_epoch, f"{progress.pairs / progress.seconds:,.0f}"),
                left.after(progress.epoch),
            )
    if progress.epoch < all_epochs:
        log.info(
            "stopped after epoch %d: no better %s since epoch %d",
            *(progress.epoch, settings.best_metric, progress.best_epoch),
        )
    checkpoint.use_best()
    best = progress.history[progress.best_epoch - 1]
    return TrainingHistory(
        train_pairs=train_lists.pairs,
        best_epoch=progress.best_epoch,
        best_value=progress.best_value,
        history=progress.history,
        pairs_per_second=progress.pairs / progress.seconds,
        steps=steps * progress.epoch,
        theta=[value for name, value in best.figures.items() if name.startswith(THETA)] or None,
    )


def make_optimizer(settings: TrainingSettings) -> keras.optimizers.Optimizer:
    """Makes the optimizer; within `strategy.scope()`."""
    return LazyAdam(settings.number("learning_rate"), settings.number("embedding_factor"))


def _train_epoch(
    training_steps: TrainingSteps, batches: Iterator[Any], steps: int, done: int, epochs: int, left: TimeLeft
) -> dict[str, npt.NDArray[np.float32]]:
    """Runs the steps of the epoch after `done` epochs, and logs its progress; returns the figures of all steps."""
    steps_per_call = _STEPS_PER_CALL if training_steps.replicas == 1 else _STEPS_PER_CALL_OF_REPLICAS
    parts = []
    for start in range(0, steps, steps_per_call):
        end = min(start + steps_per_call, steps)
        parts.append(training_steps.run(batches, end - start))
        progress_log.info("epoch %d/%d, %s left", done + 1, epochs, left.after(done + end / steps))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _lists_of_a_step(
    train_lists: RankingLists, evaluator: ListEvaluator, settings: TrainingSettings, replicas: int
) -> int:
    """Returns the number of lists of a step, over all replicas; raises a DataError for too few lists."""
    batch = min(settings.batch_lists, len(train_lists) // replicas * replicas)
    if batch == 0 or len(evaluator) == 0:
        raise DataError(
            f"training needs a train list for each of {replicas} replicas, and an eval list; got {len(train_lists)} "
            f"train lists and {len(evaluator)} eval lists."
        )
    return batch


def _check_start(epoch: int, chief_epoch: int, checkpoint_dir: str) -> None:
    """Checks that a worker starts after the same epoch as the chief."""
    if epoch != chief_epoch:
        raise DataError(
            f"all workers must resume from the same checkpoint; the chief does after epoch {chief_epoch}, another "
            f"worker after epoch {epoch}. Give all workers the same folder {checkpoint_dir}."
        )


def _train_figures(step_figures: Mapping[str, npt.NDArray[np.float32]], clip_norm: float) -> dict[str, float]:
    """Returns an epoch's figures of the train split, from the figures of its steps."""
    norms = step_figures[GRADIENT_NORM]
    further = {name: values for name, values in step_figures.items() if name not in (LOSS, GRADIENT_NORM)}
    return {
        "train/loss": float(step_figures[LOSS].mean()),
        "train/gradient_norm_mean": float(norms.mean()),
        "train/gradient_norm_max": float(norms.max()),
        "train/clipped_share": float((norms > clip_norm).mean()),
        **{f"train/{name}": float(values.mean()) for name, values in further.items()},
    }


def _patience_is_spent(progress: TrainingProgress, settings: TrainingSettings) -> bool:
    """Returns whether training stops before its last epoch."""
    return settings.patience is not None and progress.epoch - progress.best_epoch >= settings.patience
