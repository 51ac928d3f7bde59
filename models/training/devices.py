"""The devices of a training, and the `tf.distribute` strategy over them."""

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
"""On at most this many cores, runs each op on a single core, where the model's ops are short: several ops keep the
cores busy. Measured with two cores; with more, TensorFlow's own choice stays."""

log = logging.getLogger("clir.training")


def configure_devices(settings: TrainingSettings, towers: ScorerSettings) -> None:
    """Checks the devices, and splits the CPU into `replicas` logical devices where there are several.

    Where a model's encoder or scorer `has_short_ops` and the cores are few, each op runs on one core: dividing it takes
    longer, and several ops run at a time. A process that trains in workers leaves the GPUs to them. TensorFlow allows
    all this only before its first op, so the process's entry point calls this function.

    Args:
      settings: of the training.
      towers: the scorer that is trained.

    Raises:
      ConfigError: the settings name a GPU and there is none, there are fewer GPUs than replicas, the lists of a batch
        do not divide among them, or workers cannot share the devices.
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
        with suppress(RuntimeError):  # an op has run already: the threads stay as they are
            tf.config.threading.set_intra_op_parallelism_threads(1)


def configure_worker(settings: TrainingSettings, number: int, workers_here: int) -> None:
    """Gives a worker its share of this machine's GPUs, or a CPU; must be called before TensorFlow's first op.

    Args:
      settings: of the training.
      number: the worker's number among those on this machine, from 0.
      workers_here: number of workers on this machine.

    Raises:
      ConfigError: see `configure_devices`.
    """
    _check(settings, workers_here, has_several=True)
    gpus = tf.config.list_physical_devices("GPU") if _kind(settings) == "GPU" else []
    gpus_each = len(gpus) // workers_here
    tf.config.set_visible_devices(gpus[number * gpus_each :][: settings.replicas or gpus_each], "GPU")


def make_strategy(settings: TrainingSettings) -> tf.distribute.Strategy:
    """Returns a strategy on one device, or `MirroredStrategy` over several; logs its devices."""
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
    """Returns `MultiWorkerMirroredStrategy` over the workers that TF_CONFIG names, each on its configured devices.

    It waits for all workers, and must be called before TensorFlow's first op.

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
    """Refuses devices that do not suffice for the workers here; `has_several`: whether there are several workers."""
    gpus, replicas = len(tf.config.list_physical_devices("GPU")), settings.replicas
    if settings.device == "gpu" and not gpus:
        fault = (
            "training.device is gpu, but TensorFlow finds no GPU; install the GPU lock and a driver, or set it to auto."
        )
    elif _kind(settings) == "CPU":
        if not has_several or replicas in (None, 1):
            return
        fault = (
            f"training.replicas must be 1 or null where several workers train on CPUs, of which each has one; got "
            f"{replicas}."
        )
    elif gpus < workers or gpus % workers:
        fault = (
            f"training.workers must divide the number of GPUs, {gpus}: no two workers share one; got {workers}. Set "
            "training.device to cpu to train on CPUs."
        )
    elif (replicas or 1) > gpus // workers:
        each = " of a worker" if workers > 1 else ""
        fault = f"training.replicas must be at most the number of GPUs{each}, {gpus // workers}; got {replicas}."
    else:
        _check_batch(settings, workers * (replicas or gpus // workers))
        return
    raise ConfigError([fault])


def _check_batch(settings: TrainingSettings, replicas: int) -> None:
    """Refuses a batch that cannot be divided among the replicas."""
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
        log.warning("a GPU is there and unused; set training.device to auto or gpu to train on it")
    elif any(Path(_NVIDIA_GPUS).glob("*")):
        log.warning("an NVIDIA GPU is there, but TensorFlow cannot use it; install the GPU lock (see docs/runs.md)")


def _kind(settings: TrainingSettings) -> str:
    return "GPU" if settings.device != "cpu" and tf.config.list_physical_devices("GPU") else "CPU"
