"""Ctrl-C ends a run without a traceback, whatever it is in the midst of."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e import forked
from tests.e2e.process import ROOT

pytestmark = pytest.mark.long


def interrupt(process_id: int, log: Path, reported: str) -> None:
    """Sends Ctrl-C, a second after a text stands in the run's log."""
    deadline = time.monotonic() + 300
    while reported not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)
    time.sleep(1)
    os.kill(process_id, signal.SIGINT)


def check(code: int | None, out: str, error: str) -> None:
    assert (code, out) == (130, "")
    assert error.splitlines()[-1] == "interrupted"
    assert "Traceback" not in error
    assert "Exception" not in error


def test_a_run_that_is_interrupted_in_a_beam_job_and_again_in_the_training_says_so_and_nothing_else(
    tmp_path: Path,
) -> None:
    settings = [f"--set={text}" for text in (f"output={tmp_path / 'run'}", "preset=paper", "training.epochs=5000")]
    arguments, log, out = ("run", "configs/sample.yaml", *settings), tmp_path / "log", tmp_path / "out"
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            [str(Path(sys.executable).with_name("clir")), *arguments],
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            # A shell that runs the tests in the background has its children ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as fresh,
    ):
        interrupt(fresh.pid, log, "ImportSchemaGen")
        said, _ = fresh.communicate(timeout=60)
    check(fresh.returncode, said, log.read_text())
    log.write_text("")
    process = forked.start(*arguments, log=log, out=out)
    assert process.pid is not None
    interrupt(process.pid, log, "training on")
    process.join(60)
    check(process.exitcode, out.read_text(), log.read_text())
