"""Devices: one by default, as many as asked for, and a clear no where there are too few."""

import logging
import os

import pytest
import tensorflow as tf

from models.rankers.settings import TwoTowersSettings
from models.training import devices
from models.training.devices import configure_devices, configure_worker, make_strategy
from models.training.settings import TrainingSettings
from schemas.errors import ConfigError

pytestmark = pytest.mark.tensors


@pytest.mark.parametrize(("replicas", "expected"), [(None, 1), (1, 1), (2, 2)])
def test_strategy_has_the_replicas_asked_for_and_one_cpu_by_default(replicas, expected):
    strategy = make_strategy(TrainingSettings(device="cpu", replicas=replicas))
    assert strategy.num_replicas_in_sync == expected


def test_more_replicas_than_devices_are_refused():
    with pytest.raises(ValueError, match=r"training\.replicas must be at most the number of devices; got 4 for \["):
        make_strategy(TrainingSettings(device="cpu", replicas=4))


@pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="there is a GPU")
def test_gpu_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match=r"training\.device is gpu, but TensorFlow finds no GPU"):
        configure_devices(TrainingSettings(device="gpu"), TwoTowersSettings())


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        (TrainingSettings(replicas=4), "training.replicas .* 3; got 4"),
        (TrainingSettings(), "training.batch_lists .* 3; got 16"),
        (TrainingSettings(workers=3, batch_lists=18, replicas=2), "worker, 1; got 2"),
        (TrainingSettings(workers=2), "training.workers .* 3, .* got 2"),
        (TrainingSettings(workers=4), "training.workers .* 3, .* got 4"),
    ],
)
def test_gpus_must_suffice_and_divide_a_batch(monkeypatch, settings, shown):
    """Three GPUs that TensorFlow lists: nothing is asked of them before the check."""
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind] * 3)
    with pytest.raises(ConfigError, match=shown) as error:
        configure_devices(settings, TwoTowersSettings())
    assert len(error.value.faults) == 1


@pytest.mark.parametrize(
    ("replicas", "index", "expected"),
    [(None, 0, ["0", "1"]), (None, 1, ["2", "3"]), (1, 0, ["0"]), (1, 1, ["2"]), (None, None, [])],
)
def test_each_worker_is_left_its_own_gpus_and_the_process_that_starts_them_none(monkeypatch, replicas, index, expected):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["0", "1", "2", "3"])
    visible = {}
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda devices, kind: visible.update({kind: devices}))
    settings = TrainingSettings(workers=2, replicas=replicas)
    if index is None:
        configure_devices(settings, TwoTowersSettings())
    else:
        configure_worker(settings, index, workers_here=2)
    assert visible == {"GPU": expected}


@pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="there is a GPU")
def test_workers_on_cpus_have_one_replica_each():
    with pytest.raises(ConfigError, match=r"training\.replicas must be 1 or null where several workers train on CPUs"):
        configure_devices(TrainingSettings(workers=2, replicas=2), TwoTowersSettings())


def test_an_nvidia_gpu_that_tensorflow_does_not_see_is_a_warning(monkeypatch, tmp_path, caplog):
    (tmp_path / "0000:01:00.0").mkdir()
    monkeypatch.setattr(devices, "_NVIDIA_GPUS", str(tmp_path))
    with caplog.at_level(logging.INFO, "clir.training"):
        make_strategy(TrainingSettings(device="cpu"))
    assert [record.getMessage() for record in caplog.records] == [
        "training on CPU:0",
        "TensorFlow cannot use the NVIDIA GPU; install the GPU lock (see docs/runs.md)",
    ]


def test_devices_that_are_configured_stay_so():
    before = tf.config.list_logical_devices("CPU")
    configure_devices(TrainingSettings(device="cpu", replicas=4), TwoTowersSettings())
    assert tf.config.list_logical_devices("CPU") == before


@pytest.mark.parametrize(
    ("encoder", "cores", "expected"),
    [("mean", 1, [1]), ("mean", 2, [1]), ("mean", 3, []), ("cnn", 2, []), ("lstm", 2, [])],
)
def test_short_ops_keep_to_one_core_where_there_are_few(monkeypatch, encoder, cores, expected):
    threads = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    monkeypatch.setattr(tf.config.threading, "set_intra_op_parallelism_threads", threads.append)
    configure_devices(TrainingSettings(device="cpu"), TwoTowersSettings.with_encoder(encoder))
    assert threads == expected


def test_threads_that_ops_have_used_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    tf.constant(0)
    before = tf.config.threading.get_intra_op_parallelism_threads()
    configure_devices(TrainingSettings(device="cpu"), TwoTowersSettings())
    assert tf.config.threading.get_intra_op_parallelism_threads() == before
