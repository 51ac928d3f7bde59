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

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all: a run goes on where the one before was interrupted."""
    return tmp_path_factory.mktemp("interrupted") / "out"


def settings(output: Path) -> list[str]:
    return [f"--set={one}" for one in (f"output={output}", "preset=paper", "training.epochs=5000")]


def interrupt(process_id: int, log: Path, reported: str, seconds: float) -> None:
    """Sends Ctrl-C, some seconds after a text stands in the run's log."""
    deadline = time.monotonic() + 300
    while reported not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)
    time.sleep(seconds)
    os.kill(process_id, signal.SIGINT)


def check(code: int | None, out: str, error: str) -> None:
    assert (code, out) == (130, "")
    assert error.splitlines()[-1] == "interrupted"
    assert "Traceback" not in error
    assert "Exception" not in error


def test_an_interrupted_run_says_so_and_nothing_else(output: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            [str(Path(sys.executable).with_name("clir")), "run", "configs/sample.yaml", *settings(output)],
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            # A shell that runs the tests in the background has its children ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process,
    ):
        interrupt(process.pid, log, "ImportSchemaGen", 1.0)
        out, _ = process.communicate(timeout=60)
    check(process.returncode, out, log.read_text())


@pytest.mark.parametrize(
    ("reported", "seconds"),
    [
        ("ImportSchemaGen", 3.0),
        pytest.param("LexicalBaseline", 0.2, marks=pytest.mark.long),
        pytest.param("ExampleValidator", 1.0, marks=pytest.mark.long),
        ("training on", 1.0),
    ],
    ids=["writing", "statistics", "transforming", "training"],
)
def test_so_does_one_in_another_stage(output: Path, tmp_path: Path, reported: str, seconds: float) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    log.touch()
    process = forked.start("run", "configs/sample.yaml", *settings(output), log=log, out=out)
    assert process.pid is not None
    interrupt(process.pid, log, reported, seconds)
    process.join(60)
    check(process.exitcode, out.read_text(), log.read_text())
