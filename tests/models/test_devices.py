"""Devices: one by default, as many as asked for, and a clear no where there are too few."""

import pytest
import tensorflow as tf

from models.devices import configure_devices, make_strategy
from models.settings import TrainingSettings


@pytest.mark.parametrize(("replicas", "expected"), [(None, 1), (1, 1), (2, 2)])
def test_strategy_has_the_replicas_asked_for_and_one_cpu_by_default(replicas, expected):
    strategy = make_strategy(TrainingSettings(device="cpu", replicas=replicas))
    assert strategy.num_replicas_in_sync == expected


def test_more_replicas_than_devices_are_refused():
    with pytest.raises(ValueError, match=r"training\.replicas must be at most the number of devices; got 4 for \["):
        make_strategy(TrainingSettings(device="cpu", replicas=4))


@pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="there is a GPU")
def test_gpu_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"training\.device is gpu, but TensorFlow finds no GPU"):
        make_strategy(TrainingSettings(device="gpu"))


def test_devices_that_are_configured_stay_so():
    before = tf.config.list_logical_devices("CPU")
    configure_devices(TrainingSettings(device="cpu", replicas=4))
    assert tf.config.list_logical_devices("CPU") == before
