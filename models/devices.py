"""What a model trains on: the devices that are there, and the `tf.distribute` strategy over them."""

import logging

import tensorflow as tf

from models.settings import TrainingSettings

log = logging.getLogger("clir.training")


def configure_devices(settings: TrainingSettings) -> None:
    """Splits the CPU into `replicas` logical devices where more than one is asked for.

    TensorFlow allows this only before its first op, so the process's entry point calls it.
    """
    replicas = settings.replicas or 1
    cpu = tf.config.list_physical_devices("CPU")[0]
    if replicas > 1 and _kind(settings) == "CPU" and not tf.config.get_logical_device_configuration(cpu):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * replicas)


def make_strategy(settings: TrainingSettings) -> tf.distribute.Strategy:
    """One device, or `MirroredStrategy` over several; logs what it chose.

    Raises:
      ValueError: a GPU is asked for and none is there, or there are fewer devices than replicas.
    """
    kind = _kind(settings)
    devices = [device.name for device in tf.config.list_logical_devices(kind)]
    replicas = settings.replicas or (len(devices) if kind == "GPU" else 1)
    if replicas > len(devices):
        raise ValueError(f"training.replicas must be at most the number of devices; got {replicas} for {devices}.")
    if kind == "CPU" and tf.config.list_physical_devices("GPU"):
        log.warning("a GPU is there and unused; set training.device to auto or gpu to train on it")
    if settings.batch_lists % replicas:
        raise ValueError(
            f"training.batch_lists must be a multiple of the number of replicas; got {settings.batch_lists} "
            f"for {replicas}."
        )
    log.info("training on %s", ", ".join(device.removeprefix("/device:") for device in devices[:replicas]))
    if kind == "GPU":
        tf.config.set_soft_device_placement(True)  # an op without a GPU kernel runs on the CPU
    if replicas == 1:
        return tf.distribute.OneDeviceStrategy(devices[0])
    return tf.distribute.MirroredStrategy(devices[:replicas])


def _kind(settings: TrainingSettings) -> str:
    gpus = tf.config.list_physical_devices("GPU")
    if settings.device == "gpu" and not gpus:
        raise ValueError(
            "training.device is gpu, but TensorFlow finds no GPU; install the GPU lock and a driver, or set it to auto."
        )
    return "GPU" if gpus and settings.device != "cpu" else "CPU"
