"""Trainings in worker processes: as one device trains, and with one clear end when a process dies."""

import logging
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import tensorflow as tf

from models.training import cluster
from models.training.cluster import joined_cluster, run_training, run_workers
from models.training.settings import TrainingSettings
from models.training.workers import Cluster
from schemas.errors import ConfigError, DataError, WorkerDied
from schemas.training_history import TrainingHistory
from smooth_clir.cli.users_error import users_error
from tests.components.trainer.in_workers import train_small

pytestmark = pytest.mark.tensors

TWO = TrainingSettings(epochs=3, batch_lists=8, learning_rate=0.3, device="cpu", workers=2)
GO_ON = "The same command resumes from the last saved epoch."


def arguments_of(folder, settings=TWO, **happens):
    return {"folder": str(folder), "training": settings.model_dump(mode="json"), **happens}


def run(folder, settings=TWO, **happens):
    """Trains, or goes on where the folder's checkpoint is."""
    folder.mkdir(exist_ok=True, parents=True)
    return TrainingHistory.model_validate(
        run_training(train_small, arguments_of(folder, settings, **happens), settings)
    )


def run_single_worker(folder, **happens):
    """Trains in one worker, which starts sooner than two."""
    return run_workers(train_small, arguments_of(folder, **happens), TWO, Cluster.on_loopback(1))


def lives(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module")
def on_two(folder):
    return run(folder)


@pytest.mark.long
def test_two_workers_train_as_one_device_does_and_the_chief_alone_writes(on_two, folder, tmp_path):
    on_device = train_small(arguments_of(tmp_path), tf.distribute.OneDeviceStrategy("/cpu:0"))
    device, cluster = ([row.figures for row in history.history] for history in (TrainingHistory(**on_device), on_two))
    assert len(device) == len(cluster) == 3
    for expected, figures in zip(device, cluster, strict=True):
        assert figures == {name: pytest.approx(value, abs=5e-5) for name, value in expected.items()}
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint", "chief"]


@pytest.mark.long
def test_a_killed_worker_a_killed_chief_and_a_refusal_end_the_training_and_it_goes_on_each_time(tmp_path, caplog):
    encoder = {"dropout": 0.3, "word_dropout": 0.25}
    whole = run(tmp_path / "whole", encoder=encoder)
    folder = tmp_path / "ended"
    with pytest.raises(WorkerDied, match=r"worker 1 of 2 was killed by SIGKILL") as died:
        run(folder, encoder=encoder, killed=[2, False])
    assert str(died.value).splitlines()[-1] == GO_ON
    with pytest.raises(WorkerDied, match="worker 0 of 2 was killed by SIGKILL"):
        run(folder, encoder=encoder, killed=[1, True])
    with pytest.raises(DataError, match=r"^the scores must be finite; got NaN\.$"):
        run(folder, encoder=encoder, refused=[2, False])
    with caplog.at_level(logging.INFO, "clir"):
        assert run(folder, encoder=encoder).history == whole.history
    assert "training in 2 workers, each on CPU:0" in caplog.messages
    assert any(message.startswith("resuming after epoch 2") for message in caplog.messages)
    assert [line.split(",")[0] for line in caplog.messages if "loss" in line] == ["epoch 3/3"]


@pytest.mark.long
def test_workers_of_a_cluster_are_joined_and_the_chief_alone_has_the_result(on_two, folder, tmp_path, monkeypatch):
    """Each call stands for the Trainer of another machine."""
    settings = TWO.model_copy(update={"workers": None})

    def join(view):
        return run_workers(train_small, arguments_of(tmp_path, settings), settings, [view])

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(join, Cluster.on_loopback(2)))
    for result in results:
        assert TrainingHistory(**result).history == on_two.history
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "chief"]


@pytest.mark.long
def test_a_worker_of_a_cluster_that_loses_another_says_so(tmp_path):
    views = Cluster.on_loopback(2)

    def join(view):
        with pytest.raises(WorkerDied) as died:
            run_workers(train_small, arguments_of(tmp_path, killed=[2, False]), TWO, [view])
        return str(died.value).splitlines()

    with ThreadPoolExecutor(2) as pool:
        (chief_error, *_), (worker_error, *_) = pool.map(join, views)
    assert "worker 0 of 2 lost another one: Collective ops is aborted" in chief_error
    assert "worker 1 of 2 was killed by SIGKILL" in worker_error


@pytest.mark.long
def test_workers_do_not_outlive_a_run_that_is_killed(tmp_path):
    code = "import sys; from tests.components.trainer.test_workers import *; run(Path(sys.argv[1]), waits=[2])"
    command = [sys.executable, "-c", f"from pathlib import Path; {code}", str(tmp_path)]
    files = [tmp_path / f"{role}.pid" for role in ("chief", "other")]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as parent:
        deadline = time.monotonic() + 500
        while not all(file.exists() and file.read_text() for file in files) and time.monotonic() < deadline:
            time.sleep(0.1)
        process_ids = [int(file.read_text()) for file in files if file.exists()]
        were_alive = [*map(lives, process_ids)]
        parent.kill()
    assert were_alive == [True, True]
    deadline = time.monotonic() + 20
    while any(map(lives, process_ids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(lives, process_ids))


@pytest.mark.long
def test_a_full_disk_is_reported_as_such_and_the_training_goes_on(tmp_path):
    with pytest.raises(RuntimeError) as failed:
        run_single_worker(tmp_path, max_bytes=2000)
    assert "no space left to write the output" in str(users_error(failed.value, has_stages=True))
    assert len(TrainingHistory(**run_single_worker(tmp_path)).history) == 3


@pytest.mark.stages
def test_what_a_worker_prints_last_stands_in_the_error_of_its_death(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "_START", "import sys; assert %r; print('not found', file=sys.stderr); sys.exit(3)")
    with pytest.raises(WorkerDied) as died:
        run_single_worker(tmp_path)
    assert str(died.value).splitlines() == [
        "the training stopped, because worker 0 of 1 ended with exit status 3.",
        "Its last lines:",
        "  not found",
        GO_ON,
    ]


# TF_CONFIG


def named(workers, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", Cluster.on_loopback(workers)[0].tf_config)


def test_without_a_tf_config_or_with_one_worker_no_cluster_is_joined(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert joined_cluster(TWO) is None
    monkeypatch.setenv("TF_CONFIG", '{"environment": "cloud"}')
    assert joined_cluster(TWO) is None
    named(1, monkeypatch)
    assert joined_cluster(TWO) is None


def test_a_cluster_of_another_size_than_the_settings_is_refused(monkeypatch):
    named(3, monkeypatch)
    with pytest.raises(ConfigError, match=r"training\.workers must be null, or 3, as TF_CONFIG says; got 2\."):
        joined_cluster(TWO)
    assert joined_cluster(TrainingSettings()).workers == 3
