"""Checkpoints from which a killed training resumes."""

import json
import logging
import time
from dataclasses import dataclass, field

import tensorflow as tf
from tensorflow import keras

from models.objectives.objective import Objective
from schemas.errors import DataError
from schemas.json_files import parse_json
from schemas.training_history import Epoch

log = logging.getLogger("clir.training")

_LARGEST_SHARE = 0.05


@dataclass
class TrainingProgress:
    """The progress of a training.

    Attributes:
      epoch: the last finished epoch; 0 before the first.
      best_epoch, best_value: the best epoch so far, and its `best_metric` on the eval split.
      history: the epochs so far.
      pairs, seconds: query-document pairs and time of training so far, without evaluation.
    """

    epoch: int = 0
    best_epoch: int = 0
    best_value: float = -1.0
    history: list[Epoch] = field(default_factory=list)
    pairs: float = 0.0
    seconds: float = 0.0


class _Saved(tf.train.experimental.PythonState):
    """Saves progress in a checkpoint as JSON, which keeps floats exact."""

    def __init__(self, progress: TrainingProgress) -> None:
        self._progress = progress

    def serialize(self) -> str:
        rows = [epoch.model_dump() for epoch in self._progress.history]
        return json.dumps({**vars(self._progress), "history": rows})

    def deserialize(self, string_value: str) -> None:
        content = parse_json(string_value)
        history = [Epoch.model_validate(row) for row in content["history"]]
        for name, value in {**content, "history": history}.items():
            setattr(self._progress, name, value)


class TrainingCheckpoint:
    """Weights, the best epoch's weights, optimizer and progress of a training, in a folder.

    If a save is killed, the previous one stays valid. An epoch that ends soon after a save is not saved, so that saving
    takes at most a twentieth of the time.

    Args:
      folder: a folder only for trainings with the same data, code and settings.
      objective, optimizer: the objective and the optimizer, built.
      writes: whether `save` writes; among several workers only that of the chief does.

    Attributes:
      progress: the training's progress, which the training loop updates.
    """

    def __init__(
        self, folder: str, objective: Objective, optimizer: keras.optimizers.Optimizer, writes: bool = True
    ) -> None:
        self._writes = writes
        self.progress = TrainingProgress()
        self._weights = objective.variables
        self._best = [tf.Variable(weight.numpy(), trainable=False) for weight in self._weights]
        checkpoint = tf.train.Checkpoint(
            objective=objective, optimizer=optimizer, best=self._best, progress=_Saved(self.progress)
        )
        self._manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
        self._saved_at, self._save_seconds = time.monotonic(), 0.0

    def restore(self) -> None:
        """Restores objective, optimizer and progress from the folder, if it holds a checkpoint.

        Raises:
          DataError: the checkpoint cannot be read.
        """
        path = self._manager.latest_checkpoint
        if path is None:
            return
        try:
            self._manager.checkpoint.restore(path).assert_existing_objects_matched()
        except (tf.errors.OpError, AssertionError, IndexError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(
                f"the checkpoint {path} cannot be read: {reason}; remove it to train from the start."
            ) from None
        log.info("resuming after epoch %d of an earlier run", self.progress.epoch)

    def save(self) -> None:
        """Saves, unless the last save is too recent."""
        started = time.monotonic()
        if self._writes and self._save_seconds <= _LARGEST_SHARE * (started - self._saved_at):
            self._manager.save()
            self._saved_at = time.monotonic()
            self._save_seconds = self._saved_at - started

    def keep_best(self) -> None:
        """Keeps the current weights as the best."""
        for best, weight in zip(self._best, self._weights, strict=True):
            best.assign(weight.numpy())

    def use_best(self) -> None:
        """Restores the best weights."""
        for weight, best in zip(self._weights, self._best, strict=True):
            weight.assign(best.numpy())
