"""The devices of a training, and its `tf.distribute` strategy."""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import tensorflow as tf

from models.rankers.settings import ScorerSettings
from models.training.settings import TrainingSettings
from schemas.errors import ConfigError

_NVIDIA_GPUS = "/proc/driver/nvidia/gpus"  # a folder for each, whether or not TensorFlow finds CUDA's libraries

_FEW_CORES: Final = 2
"""Number of cores up to which short ops run on a single core each, because several ops keep the cores busy. Measured
with two cores; with more, TensorFlow chooses."""

log = logging.getLogger("clir.training")


def configure_devices(settings: TrainingSettings, towers: ScorerSettings) -> None:
    """Checks the devices, and splits the CPU into logical devices for several `replicas`.

    On few cores, each op of a model that `has_short_ops` runs on a single core. A process that trains in workers leaves
    the GPUs to them. Must be called before TensorFlow's first op.

    Args:
      settings: the settings of the training.
      towers: the trained scorer.

    Raises:
      ConfigError: a GPU is demanded and missing, there are fewer GPUs than replicas, the lists of a batch do not divide
        among them, or workers cannot share the devices.
    """
    workers = settings.workers or 1
    _check(settings, workers, has_several=workers > 1)
    cpu = tf.config.list_physical_devices("CPU")[0]
    if workers > 1:
        tf.config.set_visible_devices([], "GPU")
    elif _kind(settings) == "CPU" and settings.replicas and not tf.config.get_logical_device_configuration(cpu):
        logical = [tf.config.LogicalDeviceConfiguration()] * settings.replicas
        tf.config.set_logical_device_configuration(cpu, logical)
    if towers.training_defaults().has_short_ops and len(os.sched_getaffinity(0)) <= _FEW_CORES:
        with suppress(RuntimeError):  # too late: an op has run already
            tf.config.threading.set_intra_op_parallelism_threads(1)


def configure_worker(settings: TrainingSettings, number: int, workers_here: int) -> None:
    """Gives a worker its share of this machine's GPUs, or a CPU; must be called before TensorFlow's first op.

    Args:
      settings: the settings of the training.
      number: the worker's number on this machine, from 0.
      workers_here: number of workers on this machine.

    Raises:
      ConfigError: see `configure_devices`.
    """
    _check(settings, workers_here, has_several=True)
    gpus = tf.config.list_physical_devices("GPU") if _kind(settings) == "GPU" else []
    gpus_each = len(gpus) // workers_here
    tf.config.set_visible_devices(gpus[number * gpus_each :][: settings.replicas or gpus_each], "GPU")


def make_strategy(settings: TrainingSettings) -> tf.distribute.Strategy:
    """Returns a strategy on a single device, or `MirroredStrategy` over several; logs its devices."""
    kind = _kind(settings)
    devices = [device.name for device in tf.config.list_logical_devices(kind)]
    replicas = settings.replicas or (len(devices) if kind == "GPU" else 1)
    if replicas > len(devices):
        raise ValueError(f"training.replicas must be at most the number of devices; got {replicas} for {devices}.")
    log.info("training on %s", ", ".join(device.removeprefix("/device:") for device in devices[:replicas]))
    _report_unused_gpus(kind)
    if replicas == 1:
        return tf.distribute.OneDeviceStrategy(devices[0])
    return tf.distribute.MirroredStrategy(devices[:replicas])


def join_workers(settings: TrainingSettings) -> tf.distribute.Strategy:
    """Returns `MultiWorkerMirroredStrategy` over the workers in TF_CONFIG, each on its configured devices.

    Waits for all workers; must be called before TensorFlow's first op.

    Raises:
      ConfigError: the lists of a batch do not divide among their replicas.
    """
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    _check_batch(settings, strategy.num_replicas_in_sync)
    devices = [name.rpartition("device:")[2] for name in strategy.extended.worker_devices]
    workers = strategy.num_replicas_in_sync // len(devices)
    log.info("training in %d workers, each on %s", workers, ", ".join(devices))
    _report_unused_gpus(_kind(settings))
    return strategy


def _check(settings: TrainingSettings, workers: int, has_several: bool) -> None:
    """Checks that the devices suffice for the workers here; `has_several`: whether the training has several workers."""
    gpus, replicas = len(tf.config.list_physical_devices("GPU")), settings.replicas
    if settings.device == "gpu" and not gpus:
        fault = (
            "training.device is gpu, but TensorFlow finds no GPU. Install the GPU lock and a driver, or set it to auto."
        )
    elif _kind(settings) == "CPU":
        if not has_several or replicas in (None, 1):
            return
        fault = f"training.replicas must be 1 or null where several workers train on CPUs; got {replicas}."
    elif gpus < workers or gpus % workers:
        fault = (
            f"training.workers must divide the number of GPUs, {gpus}, because a GPU cannot be shared; got {workers}. "
            "Set training.device to cpu to train on CPUs."
        )
    elif (replicas or 1) > gpus // workers:
        each = " of a worker" if workers > 1 else ""
        fault = f"training.replicas must be at most the number of GPUs{each}, {gpus // workers}; got {replicas}."
    else:
        _check_batch(settings, workers * (replicas or gpus // workers))
        return
    raise ConfigError([fault])


def _check_batch(settings: TrainingSettings, replicas: int) -> None:
    """Checks that a batch can be divided among the replicas."""
    if settings.batch_lists % replicas:
        raise ConfigError(
            [
                f"training.batch_lists must be a multiple of the number of replicas, {replicas}; got "
                f"{settings.batch_lists}."
            ]
        )


def _report_unused_gpus(kind: str) -> None:
    if kind == "GPU":
        tf.config.set_soft_device_placement(True)  # an op without a GPU kernel runs on the CPU
    elif tf.config.list_physical_devices("GPU"):
        log.warning("the GPU is not used; set training.device to auto or gpu to train on it")
    elif any(Path(_NVIDIA_GPUS).glob("*")):
        log.warning("TensorFlow cannot use the NVIDIA GPU; install the GPU lock (see docs/runs.md)")


def _kind(settings: TrainingSettings) -> str:
    return "GPU" if settings.device != "cpu" and tf.config.list_physical_devices("GPU") else "CPU"
