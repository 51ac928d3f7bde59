"""The training of a search's trial."""

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from components.trainer.inputs import read_inputs
from components.trainer.train_ranker import train_ranker
from components.trainer.training_arguments import TrainingArguments
from components.trainer.training_inputs import TrainingInputs


def train_trial(inputs: TrainingInputs, folder: str, strategy: tf.distribute.Strategy) -> float:
    """Trains for a trial.

    Args:
      inputs: with the trial's numbers.
      folder: the trial's own.
      strategy: see `models.training.devices`.

    Returns:
      the best value of `best_metric`.

    Raises:
      DataError: see `train_ranker`.
    """
    folders = [os.path.join(folder, name) for name in ("log", "checkpoint")]
    return train_ranker(inputs, strategy, *folders).history.best_value


def read_and_train_trial(trial: Mapping[str, Any], strategy: tf.distribute.Strategy) -> float:
    """Trains for a trial in a worker, which reads the data itself.

    Args:
      trial: `arguments` of a `TrainingArguments`, the trial's `numbers`, and its `folder`.
      strategy: of all workers.

    Returns:
      the best value of `best_metric`.
    """
    inputs = read_inputs(TrainingArguments(**trial["arguments"])).with_numbers(trial["numbers"])
    return train_trial(inputs, trial["folder"], strategy)
