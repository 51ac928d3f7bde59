"""One run of the whole pipeline on the sample, shared by all tests here, and the command line as a process."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


class Process:
    """A `clir` command that has ended."""

    def __init__(self, *arguments: object, stdin: str = "") -> None:
        command = [str(Path(sys.executable).with_name("clir")), *map(str, arguments)]
        done = subprocess.run(command, input=stdin, cwd=ROOT, capture_output=True, text=True, check=False)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @cached_property
    def stages(self) -> dict[str, bool]:
        """The stages that the progress view tells of, in order: name to whether it came from the cache."""
        lines = re.findall(r"^\[\d+/\d+\] (\w+) +(cached|[\d.]+ s)$", self.err, re.MULTILINE)
        return {name: took == "cached" for name, took in lines}


class SampleRun(Process):
    """`clir run configs/sample.yaml` with few epochs."""

    def __init__(self, output: Path, *arguments: object) -> None:
        super().__init__("run", *arguments, "--set", f"output={output}", "--json")
        self.output = output

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The content of metrics.json."""
        return json.loads((self.output / "evaluation" / "metrics.json").read_text())

    @property
    def versions(self) -> list[Path]:
        """The pushed models."""
        return sorted((self.output / "serving").iterdir())


@pytest.fixture(scope="session")
def clir() -> Callable[..., Process]:
    """Runs `clir` with arguments, and perhaps stdin, to its end."""
    return Process


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """The run. No test changes its folder but by an identical run."""
    run = SampleRun(tmp_path_factory.mktemp("run") / "out", "configs/sample.yaml", "--set", "training.epochs=12")
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="session")
def model_path(sample_run: SampleRun) -> str:
    """The SavedModel that the run pushed."""
    (version,) = sample_run.versions
    return str(version)
