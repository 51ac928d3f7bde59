"""`clir` as a process of its own, and a run of the sample in one."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from tests.e2e.forked import ROOT, clir

SAMPLE = ROOT / "data" / "sample"
STAGES = """
    CollectionGen ImportSchemaGen WikiClirExampleGen LexicalBaseline StatisticsGen ExampleValidator Transform Trainer
    Evaluator TrainingReport Gate Pusher
""".split()
"""The stages of a run without an index, a lexicon or a search."""
SMALL = [
    "preset=paper",
    "data.max_queries=150",
    "training.epochs=2",
    "evaluation.minimums={}",
    "evaluation.significance=0.0001",
]
"""Settings of a small run."""
DECIDES = {"Gate", "Pusher"}
"""The stages that run on every run: what they decide hangs on what is pushed by then."""
RESTORED = "lost or changed files restored"
"""The end of a stage's line where the stage was repeated for its files alone."""


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def reported_stages(text: str) -> dict[str, bool]:
    """The stages on a run's stderr, in order: name to whether it came from the cache."""
    lines = re.findall(rf"^\[ ?\d+/\d+\] (\w+) +(cached|[\d.]+ s)(?:  {RESTORED})?$", text, re.MULTILINE)
    return {name: took == "cached" for name, took in lines}


class Ended:
    """A `clir` command that has ended.

    Args:
      code: its exit code.
      out, err: what it wrote.
    """

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @cached_property
    def stages(self) -> dict[str, bool]:
        """See `reported_stages`."""
        return reported_stages(self.err)

    @property
    def ran(self) -> set[str]:
        """The stages that did not come from the cache, but for those that always run."""
        return {name for name, cached in self.stages.items() if not cached} - DECIDES

    @property
    def restored(self) -> set[str]:
        """Those that were repeated for lost files alone."""
        return set(re.findall(rf"^\[ ?\d+/\d+\] (\w+) .*{RESTORED}$", self.err, re.MULTILINE))


def fresh(*arguments: object, cwd: Path = ROOT, max_bytes: int | None = None) -> Ended:
    """A `clir` command, started as people start it.

    Args:
      *arguments: the command's.
      cwd: the folder that it runs in.
      max_bytes: the size beyond which it can write no file, as on a full disk.
    """
    done = subprocess.run(
        [str(Path(sys.executable).with_name("clir")), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        preexec_fn=max_bytes and partial(resource.setrlimit, resource.RLIMIT_FSIZE, (max_bytes, max_bytes)),
        # It must be quiet by itself, not because the tests are.
        env={key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def forked(*arguments: object, code: Path = ROOT) -> Ended:
    """The same without the seconds of its imports: in a process forked from one that has imported everything.

    Args:
      *arguments: the command's.
      code: the root of the code that the cache's keys see.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        exit_code = clir(*arguments, log=err, out=out, code=code)
        return Ended(exit_code, out.read_text(), err.read_text())


def copy_code(folder: Path) -> Path:
    """Copies the code into a new folder, to edit."""
    for room in ("schemas", "models", "components", "pipeline", "smooth_clir"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


class SampleRun(Ended):
    """`clir run` of a configuration into an output folder.

    Args:
      output: the folder.
      *arguments: the configuration, and options.
      start: how, `forked` or `fresh`.
    """

    def __init__(self, output: Path, *arguments: object, start: Callable[..., Ended] = forked) -> None:
        ended = start("run", *arguments, "--set", f"output={output}", "--json")
        super().__init__(ended.code, ended.out, ended.err)
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
