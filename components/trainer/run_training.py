"""Where a training runs: in this process, or in several that are started for it."""

from collections.abc import Callable
from typing import Any, TypeAlias

import tensorflow as tf

from components.trainer.joined_cluster import joined_cluster
from components.trainer.run_workers import run_workers
from models.settings import TrainingSettings
from models.training.devices import make_strategy
from models.training.workers import Cluster

Training: TypeAlias = Callable[[dict[str, Any], tf.distribute.Strategy], Any]
"""Takes arguments and returns a result, both of what JSON has: a function of a module."""


def run_training(function: Training, arguments: dict[str, Any], settings: TrainingSettings) -> Any:
    """Calls a function with a strategy: here, or in each of several workers.

    TF_CONFIG's cluster is joined by one process; without one, `training.workers` are started on this machine. Either
    are processes of their own, for a cluster can be joined only before TensorFlow's first op.

    Args:
      function: trains.
      arguments: what it takes.
      settings: of the training.

    Returns:
      what the function returned, of several workers the chief's where it runs here; else None.

    Raises:
      DataError: a worker died, or see the function.
      ConfigError: TF_CONFIG or the devices do not fit the settings.
    """
    if cluster := joined_cluster(settings):
        return run_workers(function, arguments, settings, [cluster])
    if settings.workers and settings.workers > 1:
        return run_workers(function, arguments, settings, Cluster.on_loopback(settings.workers))
    return function(arguments, make_strategy(settings))
