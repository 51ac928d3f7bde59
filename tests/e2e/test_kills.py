"""`kill -9` of a real run, then the same command; `tests/pipeline/test_crashes.py` has every moment of a small one."""

import shutil
from pathlib import Path

import pytest

from schemas.evaluation import EVALUATION_FILES
from tests.e2e.forked import Kill, clir
from tests.e2e.process import RESTORED, SampleRun

pytestmark = pytest.mark.long

KILLED = -9
VOCABULARY = "assets/query_vocabulary"
# In the midst of a data stage and of the training, and when a model is pushed and that is not yet recorded.
KILLS = (Kill("WikiClirExampleGen", seconds=0.3), Kill("Trainer", epoch=7), Kill("Pusher"))


def evaluation(output: Path) -> dict[str, bytes]:
    """The files of an evaluation that follow from configuration and data alone."""
    return {name: (output / "evaluation" / name).read_bytes() for name in EVALUATION_FILES}


def pushed(output: Path) -> list[bytes]:
    """A vocabulary and the weights of the single version that was pushed."""
    (version,) = (output / "serving").iterdir()
    return [(version / name).read_bytes() for name in (VOCABULARY, "variables/variables.data-00000-of-00001")]


def artifacts(output: Path) -> list[str]:
    """The outputs of stages under a run's folder, each as often as it is there."""
    return sorted(str(path.parent.relative_to(output)) for path in output.glob("artifacts/[A-Z]*/*/[0-9]*"))


@pytest.fixture(scope="module")
def killed(sample_run: SampleRun, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The sample's run, killed, started again each time, and in the end completed: output and log."""
    folder = tmp_path_factory.mktemp("killed")
    output, log = folder / "out", folder / "log"
    arguments = ["run", sample_run.output / "config.yaml", "--set", f"output={output}"]
    for kill in KILLS:
        assert clir(*arguments, log=log, kill=kill) == KILLED, log.read_text()
    assert clir(*arguments, log=log) == 0, log.read_text()
    return output, log.read_text()


def test_a_killed_run_completes_with_equal_metrics_and_leaves_nothing_of_the_dead(
    sample_run: SampleRun, killed: tuple[Path, str]
) -> None:
    output, _ = killed
    assert evaluation(output) == evaluation(sample_run.output)
    assert artifacts(output) == artifacts(sample_run.output)
    assert not (output / "artifacts" / "checkpoints").exists()


def test_a_killed_training_goes_on_from_its_last_epoch(killed: tuple[Path, str]) -> None:
    assert killed[1].count("resuming after epoch 7") == 1


def test_a_model_pushed_just_before_a_kill_is_not_pushed_twice_nor_after_a_byte_of_it_changed(
    sample_run: SampleRun, killed: tuple[Path, str], tmp_path: Path
) -> None:
    output, log = killed[0], tmp_path / "log"
    expected = pushed(output)
    shutil.rmtree(output / "serving")
    for vocabulary in output.glob(f"artifacts/Trainer/model/*/Format-Serving/{VOCABULARY}"):
        vocabulary.write_bytes(vocabulary.read_bytes().replace(b"the\n", b"thE\n"))
    assert clir("run", sample_run.output / "config.yaml", "--set", f"output={output}", log=log) == 0, log.read_text()
    assert log.read_text().count(RESTORED) == 1
    assert pushed(output) == expected
