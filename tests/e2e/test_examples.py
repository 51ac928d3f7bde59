"""examples/: each file runs alone and prints what it promises."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.process import ROOT

pytestmark = pytest.mark.long

EXPECTED = {
    "search": r"1 [\d.]+ 67 Lave\n2 ",
    "explain": r"volcano [\d.]+\n(.*\n)*? +[\d.]+ lexicon\n +[\d.]+   \w+ <- \w+\n",
    "update_index": r"157 documents after 1 was added\n\['etna', .*\]\n156 documents after 1 was removed\n",
    "evaluate": r"nDCG@5 0\.\d+\nAP 0\.\d+\nRR\(rel=2\) 0\.\d+\n",
    "train_on_pairs": r"1 [\d.]+ .*lave",
    "train_on_tables": r"Lave\n",
}
"""The beginning of each example's output."""


def test_the_examples_are_those_that_run_here() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs_alone(name: str, demo_output: Path, tmp_path: Path) -> None:
    output = tmp_path / "run"
    if not name.startswith("train"):
        shutil.copytree(demo_output, output)
    command = [sys.executable, ROOT / "examples" / f"{name}.py", output]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert re.match(EXPECTED[name], done.stdout), done.stdout
