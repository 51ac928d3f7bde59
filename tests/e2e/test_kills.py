"""`kill -9` at any moment, then the same command: the run completes, as if nothing had been."""

import random
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.evaluation import EVALUATION_FILES
from tests.e2e.forked import Kill, clir
from tests.e2e.process import SampleRun
from tests.e2e.test_run import STAGES

pytestmark = pytest.mark.long

KILLED = -9


def evaluation(output: Path) -> dict[str, bytes]:
    """The files of an evaluation that follow from configuration and data alone."""
    return {name: (output / "evaluation" / name).read_bytes() for name in EVALUATION_FILES}


def unfinished(output: Path) -> list[str]:
    """The executions that the metadata hold for running."""
    from ml_metadata import MetadataStore
    from ml_metadata.proto import metadata_store_pb2
    from tfx.orchestration.metadata import sqlite_metadata_connection_config

    store = MetadataStore(sqlite_metadata_connection_config(str(output / "metadata.sqlite")))
    running = metadata_store_pb2.Execution.RUNNING
    return [one.type.rpartition(".")[2] for one in store.get_executions() if one.last_known_state == running]


def artifacts(output: Path) -> list[str]:
    """The outputs of stages that lie under a run's folder, each as often as it is there."""
    return sorted(str(path.parent.relative_to(output)) for path in output.glob("artifacts/[A-Z]*/*/[0-9]*"))


# In the midst of the long stages, and in every stage when the work is done and not yet recorded.
KILLS = {stage: [Kill(stage)] for stage in STAGES}
KILLS["WikiClirExampleGen"].insert(0, Kill("WikiClirExampleGen", seconds=1))
KILLS["Transform"].insert(0, Kill("Transform", seconds=0.5))
KILLS["Trainer"].insert(0, Kill("Trainer", epoch=7))


@pytest.fixture(scope="module")
def killed(sample_run: SampleRun, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The sample's run, killed in every stage, started again each time, and in the end completed: output and log."""
    folder = tmp_path_factory.mktemp("killed")
    output, log = folder / "out", folder / "log"
    arguments = ["run", sample_run.output / "config.yaml", "--set", f"output={output}"]
    for kills in KILLS.values():
        for kill in kills:
            assert clir(*arguments, log=log, kill=kill) == KILLED, log.read_text()
            assert unfinished(output) == [kill.stage]
    assert clir(*arguments, log=log) == 0, log.read_text()
    return output, log.read_text()


def test_a_run_killed_in_every_stage_completes_with_equal_metrics(
    sample_run: SampleRun, killed: tuple[Path, str]
) -> None:
    assert evaluation(killed[0]) == evaluation(sample_run.output)


def test_it_leaves_nothing_of_the_dead_behind(sample_run: SampleRun, killed: tuple[Path, str]) -> None:
    output, _ = killed
    assert unfinished(output) == []
    assert artifacts(output) == artifacts(sample_run.output)
    assert not (output / "artifacts" / "checkpoints").exists()


def test_a_model_pushed_just_before_a_kill_is_not_pushed_twice(killed: tuple[Path, str]) -> None:
    (version,) = (killed[0] / "serving").iterdir()
    assert (version / "saved_model.pb").is_file()


def test_a_killed_training_goes_on_from_its_last_epoch(killed: tuple[Path, str]) -> None:
    assert killed[1].count("going on after epoch 7, which an earlier run had reached") == 1


def test_a_killed_training_does_not_go_on_with_other_settings(
    sample_run: SampleRun, killed: tuple[Path, str], tmp_path: Path
) -> None:
    output, log = killed[0], tmp_path / "log"
    arguments = ["run", sample_run.output / "config.yaml", "--set", f"output={output}"]
    assert clir(*arguments, "--set", "training.seed=2", log=log, kill=Kill("Trainer", epoch=2)) == KILLED
    assert len(list((output / "artifacts" / "checkpoints").iterdir())) == 1
    assert clir(*arguments, "--set", "training.seed=3", log=log) == 0
    assert "removed an unfinished training of other data, code or settings; this one starts from" in log.read_text()
    assert "going on" not in log.read_text()
    assert not (output / "artifacts" / "checkpoints").exists()


def test_four_runs_killed_at_random_moments_complete_with_equal_metrics(tmp_path: Path) -> None:
    settings = ["preset=paper", "data.max_queries=200", "training.epochs=5", "evaluation.minimums={}"]
    small = [f"--set={one}" for one in settings]

    def run(name: str, **when: float) -> tuple[int, float]:
        arguments = ["run", "configs/sample.yaml", *small, "--set", f"output={tmp_path / name}"]
        started = time.monotonic()
        return clir(*arguments, log=tmp_path / f"{name}.log", **when), time.monotonic() - started

    clir("--help", log=tmp_path / "help.log")  # the first process waits for the imports of all
    code, seconds = run("undisturbed")
    assert code == 0, (tmp_path / "undisturbed.log").read_text()

    def kill_and_complete(number: int) -> tuple[int, int, bool]:
        name = f"killed{number}"
        after = random.Random(number).uniform(0.02, 0.9) * seconds
        while (killed := run(name, kill_after=after)[0]) == 0:  # the machine is faster than it was: it was too late
            shutil.rmtree(tmp_path / name)
            after /= 2
        completed, _ = run(name)
        return killed, completed, evaluation(tmp_path / name) == evaluation(tmp_path / "undisturbed")

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(kill_and_complete, range(4)))
    assert results == [(KILLED, 0, True)] * 4
