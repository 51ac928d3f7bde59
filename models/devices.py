"""What a model trains on: the devices that are there, and the `tf.distribute` strategy over them."""

import logging
from pathlib import Path

import tensorflow as tf

from models.settings import TrainingSettings
from schemas.errors import ConfigError

_NVIDIA_GPUS = "/proc/driver/nvidia/gpus"  # a folder for each, whether or not TensorFlow finds CUDA's libraries

log = logging.getLogger("clir.training")


def configure_devices(settings: TrainingSettings) -> None:
    """Checks the devices, and splits the CPU into `replicas` logical ones where more than one is asked for.

    TensorFlow allows this only before its first op, so the process's entry point calls it.

    Raises:
      ConfigError: a GPU is asked for and none is there, there are fewer GPUs than replicas, or the lists of a batch
        do not divide among them.
    """
    gpus = tf.config.list_physical_devices("GPU")
    faults = []
    if settings.device == "gpu" and not gpus:
        faults.append(
            "training.device is gpu, but TensorFlow finds no GPU; install the GPU lock and a driver, or set it to auto."
        )
    elif _kind(settings) == "GPU" and settings.replicas and settings.replicas > len(gpus):
        faults.append(f"training.replicas must be at most the number of GPUs, {len(gpus)}; got {settings.replicas}.")
    elif _kind(settings) == "GPU" and settings.batch_lists % (settings.replicas or len(gpus)):
        faults.append(
            f"training.batch_lists must be a multiple of the number of replicas, {settings.replicas or len(gpus)}; "
            f"got {settings.batch_lists}."
        )
    if faults:
        raise ConfigError(faults)
    cpu = tf.config.list_physical_devices("CPU")[0]
    if _kind(settings) == "CPU" and settings.replicas and not tf.config.get_logical_device_configuration(cpu):
        logical = [tf.config.LogicalDeviceConfiguration()] * settings.replicas
        tf.config.set_logical_device_configuration(cpu, logical)


def make_strategy(settings: TrainingSettings) -> tf.distribute.Strategy:
    """One device, or `MirroredStrategy` over several, as `configure_devices` left them; logs what it chose."""
    kind = _kind(settings)
    devices = [device.name for device in tf.config.list_logical_devices(kind)]
    replicas = settings.replicas or (len(devices) if kind == "GPU" else 1)
    if replicas > len(devices):
        raise ValueError(f"training.replicas must be at most the number of devices; got {replicas} for {devices}.")
    log.info("training on %s", ", ".join(device.removeprefix("/device:") for device in devices[:replicas]))
    if kind == "GPU":
        tf.config.set_soft_device_placement(True)  # an op without a GPU kernel runs on the CPU
    elif tf.config.list_physical_devices("GPU"):
        log.warning("a GPU is there and unused; set training.device to auto or gpu to train on it")
    elif any(Path(_NVIDIA_GPUS).glob("*")):
        log.warning("an NVIDIA GPU is there, but TensorFlow cannot use it; install the GPU lock (see the README)")
    if replicas == 1:
        return tf.distribute.OneDeviceStrategy(devices[0])
    return tf.distribute.MirroredStrategy(devices[:replicas])


def _kind(settings: TrainingSettings) -> str:
    return "GPU" if settings.device != "cpu" and tf.config.list_physical_devices("GPU") else "CPU"
