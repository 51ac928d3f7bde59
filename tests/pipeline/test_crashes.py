"""A kill at any moment of a run, then the same command: the run completes as if nothing had been."""

import shutil
from pathlib import Path

import pytest
import tensorflow as tf

from tests.moments import drawn, moments, put_back
from tests.pipeline.toy_pipeline import GRAPH, METADATA_CALLS, STAGES, Toy

pytestmark = pytest.mark.stages

FUNCTIONS = [*METADATA_CALLS, *((tf.io.gfile, name) for name in ("copy", "makedirs", "rename", "rmtree"))]
ALWAYS = ("put_artifacts", "rename_v2")
"""The moments before and after each of these are tried, and others drawn by a seed."""


def kill_first_run(toy: Toy) -> None:
    """Leaves what a kill leaves just before the Trainer's execution is complete."""
    shutil.rmtree(toy.output)
    kills = moments(toy.output, toy.run, toy.done, FUNCTIONS)
    put_back(toy.output, [kill for kill in kills if kill.act == "put_execution" and len(kill.done) == 1][-1].files)


def lose_files(toy: Toy) -> None:
    (toy.artifact("Trainer", "model") / GRAPH).unlink()
    shutil.rmtree(toy.artifact("Evaluator"))


# What lies there before the run, the run's settings, and how many of its moments are tried.
CASES = {
    "a first run": (lambda toy: shutil.rmtree(toy.output), (), 14),
    "a run after a kill": (kill_first_run, (), 5),
    "a run with other settings": (lambda toy: None, ("training.seed=2",), 8),
    "a run that restores lost files": (lose_files, (), 16),
}


@pytest.mark.parametrize(("prepare", "settings", "size"), CASES.values(), ids=CASES)
def test_a_run_killed_at_any_moment_completes_as_if_nothing_had_been(tmp_path: Path, prepare, settings, size) -> None:
    toy = Toy(tmp_path)
    toy.run()
    prepare(toy)
    config = toy.config(*settings)
    kills = moments(toy.output, lambda: toy.run(config=config), toy.done, FUNCTIONS)
    expected = toy.results()
    # A kill between a stage's repetition and the move of its files leaves the files twice.
    alike = set if prepare is lose_files else list
    for kill in drawn(kills, size, ALWAYS):
        put_back(toy.output, kill.files)
        hows = toy.run(config=config)
        # Nothing of the dead is left, and nothing is pushed twice.
        assert alike(toy.results()) == alike(expected), kill[::2]
        assert {hows[stage] for stage in kill.done if stage in STAGES[:-1]} <= {"cached"}, kill[::2]
