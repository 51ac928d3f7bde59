"""`clir` as a process of its own, and a run of the sample in one."""

import json
import os
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample"


class Process:
    """A `clir` command that has ended."""

    def __init__(self, *arguments: object, stdin: str = "") -> None:
        done = subprocess.run(
            [str(Path(sys.executable).with_name("clir")), *map(str, arguments)],
            input=stdin,
            cwd=ROOT,
            # It must be quiet by itself, not because the tests are.
            env={key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @cached_property
    def stages(self) -> dict[str, bool]:
        """The stages that the progress view tells of, in order: name to whether it came from the cache."""
        lines = re.findall(r"^\[\d+/\d+\] (\w+) +(cached|[\d.]+ s)$", self.err, re.MULTILINE)
        return {name: took == "cached" for name, took in lines}


class SampleRun(Process):
    """`clir run` of a configuration into an output folder."""

    def __init__(self, output: Path, *arguments: object) -> None:
        super().__init__("run", *arguments, "--set", f"output={output}", "--json")
        self.output = output

    @cached_property
    def report(self) -> dict[str, Any]:
        """The content of metrics.json."""
        report: dict[str, Any] = json.loads((self.output / "evaluation" / "metrics.json").read_text())
        return report

    @property
    def versions(self) -> list[Path]:
        """The pushed models."""
        return sorted((self.output / "serving").iterdir())
