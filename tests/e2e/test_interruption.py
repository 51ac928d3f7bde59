"""Ctrl-C ends a run without a traceback, whatever it is in the midst of."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.process import ROOT

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all: a run goes on where the one before was interrupted."""
    return tmp_path_factory.mktemp("interrupted") / "out"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("ImportSchemaGen", 1.0),
        ("ImportSchemaGen", 3.0),
        pytest.param("LexicalBaseline", 2.0, marks=pytest.mark.long),
        pytest.param("ExampleValidator", 6.0, marks=pytest.mark.long),
        ("training on", 1.0),
    ],
    ids=["reading", "writing", "statistics", "transforming", "training"],
)
def test_an_interrupted_run_says_so_and_nothing_else(output: Path, told: str, seconds: float) -> None:
    process = subprocess.Popen(
        [
            *(str(Path(sys.executable).with_name("clir")), "run", "configs/sample.yaml"),
            *("--set", f"output={output}", "--set", "preset=paper", "--set", "training.epochs=5000"),
        ],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background has its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if told in line:
            break
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=60)
    error = "".join(lines) + rest
    assert (process.returncode, out) == (130, "")
    assert error.splitlines()[-1] == "interrupted"
    assert "Traceback" not in error
    assert "Exception" not in error
