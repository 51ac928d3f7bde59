"""A run whose training is shared by two processes: what ends it, and what the same command makes of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.process import ROOT, fresh

pytestmark = pytest.mark.long

SETTINGS = [
    "--set=preset=paper",
    "--set=data.max_queries=60",
    "--set=training.epochs=30",
    "--set=evaluation.minimums={}",
    "--set=training.workers=2",
]


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    """The process ids of a run's workers."""
    tasks = Path(f"/proc/{process.pid}/task")
    children = [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return sorted(child for child, command in commands.items() if b"models.training.worker" in command)


def test_a_run_whose_worker_is_killed_is_completed_by_the_same_command(tmp_path: Path) -> None:
    output = tmp_path / "out"
    arguments = ["run", "configs/sample.yaml", *SETTINGS, f"--set=output={output}"]
    clir = str(Path(sys.executable).with_name("clir"))
    with subprocess.Popen([clir, *arguments], cwd=ROOT, text=True, stderr=subprocess.PIPE) as run:
        deadline = time.monotonic() + 500
        while not list(output.glob("artifacts/checkpoints/*/checkpoint")) or len(workers_of(run)) < 2:
            assert run.poll() is None, run.stderr and run.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        chief, worker = workers_of(run)
        os.kill(worker, signal.SIGKILL)
        _, reported = run.communicate()
    assert run.returncode == 1
    assert "worker 1 of 2 was killed by SIGKILL" in reported
    assert "Traceback" not in reported
    deadline = time.monotonic() + 20  # the kernel takes its time with large processes
    while Path(f"/proc/{chief}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)

    completed = fresh(*arguments)
    assert completed.code == 0, completed.err
    assert "of an earlier run" in completed.err
    assert (output / "evaluation" / "metrics.json").is_file()
