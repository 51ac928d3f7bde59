"""A kill at any moment of a run, then the same command: the run completes as if nothing had been."""

import shutil
from pathlib import Path

import pytest
import tensorflow as tf

from tests.moments import drawn, moments, put_back
from tests.pipeline.toy_pipeline import DECIDES, METADATA_CALLS, Toy

pytestmark = pytest.mark.stages

BEYOND_PYTHON = [*METADATA_CALLS, *((tf.io.gfile, name) for name in ("copy", "makedirs", "rename", "rmtree"))]
ALWAYS = ("put_artifacts", "put_executions", "rename_v2")
"""The acts that make results valid; the moments before and after each are tried, and others drawn by a seed."""


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "toy")


def lose_files(toy: Toy) -> None:
    """Removes a file of two stages."""
    (toy.artifact("Trainer", "model") / "Format-Serving" / "saved_model.pb").unlink()
    shutil.rmtree(toy.artifact("Evaluator"))


def kill_first_run(toy: Toy) -> None:
    """Leaves what a kill leaves just before the Trainer's execution is complete."""
    shutil.rmtree(toy.output)
    kills = moments(toy.output, toy.run, toy.ended, BEYOND_PYTHON)
    put_back(toy.output, [kill for kill in kills if kill.act == "put_execution" and len(kill.done) == 1][-1].files)


# The cases: what lies there before the run, and how many of its moments are tried.
CASES = {
    "a first run": (lambda toy: shutil.rmtree(toy.output), (), 26),
    "a run after a kill": (kill_first_run, (), 10),
    "a run with other settings": (lambda toy: None, ("training.seed=2",), 16),
    "a run that restores lost files": (lose_files, (), 24),
}


@pytest.mark.parametrize(("prepare", "settings", "size"), CASES.values(), ids=CASES)
def test_a_run_killed_at_any_moment_completes_as_if_nothing_had_been(toy: Toy, prepare, settings, size) -> None:
    toy.run()
    prepare(toy)
    config = toy.config(*settings)
    kills = moments(toy.output, lambda: toy.run(config=config), toy.ended, BEYOND_PYTHON)
    expected, versions = toy.results(), toy.versions()
    assert toy.faults() == []
    for kill in drawn(kills, size, ALWAYS):
        put_back(toy.output, kill.files)
        hows = toy.run(config=config)
        where = f"{kill.act} after {kill.done}"
        assert toy.results() == expected, where  # nothing of the dead is left, and nothing is pushed twice
        assert len(toy.versions()) == len(versions), where
        assert toy.faults() == [], where
        assert {hows[stage] for stage in kill.done if stage != DECIDES} <= {"cached"}, where
