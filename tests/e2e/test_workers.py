"""Runs whose training is shared by two processes: what ends them, and what the same command makes of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.process import ROOT
from tests.e2e.test_kills import evaluation

pytestmark = pytest.mark.long

SETTINGS = [
    "preset=paper",
    "data.max_queries=200",
    "training.epochs=15",
    "evaluation.minimums={}",
    "training.workers=2",
]


def start(output: Path) -> "subprocess.Popen[str]":
    """Starts `clir run`."""
    sets = [f"--set={one}" for one in [*SETTINGS, f"output={output}"]]
    clir = Path(sys.executable).with_name("clir")
    command = [str(clir), "run", "configs/sample.yaml", *sets]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    """The process ids of a run's workers."""
    tasks = Path(f"/proc/{process.pid}/task")
    children = [int(one) for task in tasks.iterdir() for one in (task / "children").read_text().split()]
    return sorted(one for one in children if b"components.trainer.worker" in Path(f"/proc/{one}/cmdline").read_bytes())


def workers_that_have_saved(process: "subprocess.Popen[str]", output: Path) -> list[int]:
    """Waits for the first checkpoint of a run; the ids of its workers."""
    deadline = time.monotonic() + 500
    while not list(output.glob("artifacts/checkpoints/*/checkpoint")) or len(workers_of(process)) < 2:
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return workers_of(process)


def have_ended(*process_ids: int) -> bool:
    """Whether processes end, and soon: the kernel takes its time with large ones."""
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{one}").exists() for one in process_ids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_a_killed_worker_and_a_killed_run_are_completed_by_the_same_command(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with start(whole) as undisturbed:
        _, reported = undisturbed.communicate()
    assert undisturbed.returncode == 0, reported

    with start(killed) as of_dead_worker:
        chief, other = workers_that_have_saved(of_dead_worker, killed)
        os.kill(other, signal.SIGKILL)
        _, reported = of_dead_worker.communicate()
    assert of_dead_worker.returncode == 1
    assert "clir: all 2 workers of the training must live until it ends, but worker 1 was killed by SIGKILL" in reported
    assert "Traceback" not in reported
    assert have_ended(chief)

    with start(killed) as dead_run:
        workers = workers_that_have_saved(dead_run, killed)
        dead_run.kill()
    assert have_ended(*workers)

    with start(killed) as completed:
        _, reported = completed.communicate()
    assert completed.returncode == 0, reported
    assert "which an earlier run had reached" in reported
    assert evaluation(killed) == evaluation(whole)
