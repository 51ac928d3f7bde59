"""What every test shares: a quiet TensorFlow with two CPU devices, and a Hypothesis that draws the same each time."""

import os

# Before anything imports TensorFlow.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402
from hypothesis import settings  # noqa: E402

# For tests with two replicas; TensorFlow allows it only before its first op.
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)

settings.register_profile("clir", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("clir")


@pytest.fixture(scope="session")
def two_replicas() -> tf.distribute.Strategy:
    """A strategy that mirrors its variables on two devices; a second one's collective ops would clash with its."""
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
