"""`clir` as a process of its own, and a run of the sample in one."""

import json
import os
import re
import resource
import subprocess
import sys
from functools import cached_property, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample"
DECIDES = {"Gate", "Pusher"}
"""The stages that run on every run: what they decide hangs on what is pushed by then."""
RESTORED = "lost files restored"
"""What the line of a stage ends in that was repeated for its files alone."""


def told_stages(text: str) -> dict[str, bool]:
    """The stages that a run's stderr tells of, in order: name to whether it came from the cache."""
    lines = re.findall(rf"^\[ ?\d+/\d+\] (\w+) +(cached|[\d.]+ s)(?:  {RESTORED})?$", text, re.MULTILINE)
    return {name: took == "cached" for name, took in lines}


class Process:
    """A `clir` command that has ended.

    Args:
      *arguments: the command's.
      stdin: its input.
      cwd: the folder that it runs in.
      most_bytes: the size beyond which it can write no file, as on a full disk.
    """

    def __init__(self, *arguments: object, stdin: str = "", cwd: Path = ROOT, most_bytes: int | None = None) -> None:
        done = subprocess.run(
            [str(Path(sys.executable).with_name("clir")), *map(str, arguments)],
            input=stdin,
            cwd=cwd,
            preexec_fn=most_bytes and partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most_bytes, most_bytes)),
            # It must be quiet by itself, not because the tests are.
            env={key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @cached_property
    def stages(self) -> dict[str, bool]:
        """See `told_stages`."""
        return told_stages(self.err)

    @property
    def ran(self) -> set[str]:
        """The stages that did not come from the cache, but for those that always run."""
        return {name for name, cached in self.stages.items() if not cached} - DECIDES

    @property
    def restored(self) -> set[str]:
        """Those that were repeated for lost files alone."""
        return set(re.findall(rf"^\[ ?\d+/\d+\] (\w+) .*{RESTORED}$", self.err, re.MULTILINE))


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

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """The content of verdict.json."""
        verdict: dict[str, Any] = json.loads((self.output / "evaluation" / "verdict.json").read_text())
        return verdict

    @property
    def versions(self) -> list[Path]:
        """The pushed models."""
        return sorted((self.output / "serving").iterdir())
