"""A search for epsilon and theta before the training: what it leaves, and what runs it again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.e2e.forked import Kill, clir
from tests.e2e.process import DECIDES
from tests.e2e.test_cache import CachedRun
from tests.e2e.test_kills import KILLED, evaluation
from tests.e2e.test_run import STAGES
from tests.hparams_of import hparams_of

pytestmark = pytest.mark.runs

SEARCH = ["tuning.search=grid", "tuning.epsilon=[0.5, 2]"]
TRAINER = STAGES.index("Trainer")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> CachedRun:
    """A run with a grid of two trials, which has been made once."""
    run = CachedRun(tmp_path_factory.mktemp("tuning"), stages=[*STAGES[:TRAINER], "Tuner", *STAGES[TRAINER:]])
    assert run(*SEARCH) == {*STAGES, "Tuner"} - DECIDES
    return run


def results(run: CachedRun) -> dict[str, Any]:
    """The files that the run publishes about its search."""
    published: dict[str, Any] = json.loads((run.output / "tuning" / "results.json").read_text())
    return published


def test_the_trainer_trains_with_what_the_search_found_best(run: CachedRun) -> None:
    trials = results(run)["trials"]
    best = max(trials, key=lambda trial: trial["value"])
    assert sorted(trial["settings"]["model.epsilon"] for trial in trials) == [0.5, 2]
    (history_file,) = run.output.glob("tensorboard/*/training.json")
    training = json.loads(history_file.read_text())
    row = training["history"][training["best_epoch"] - 1]
    assert row["score_gradient/bound"] == 1 / best["settings"]["model.epsilon"]
    assert row["eval/ndcg_5"] == best["value"]
    assert training["searched"] == best["settings"]


def test_tensorboard_compares_the_trials_with_each_other_and_with_the_training(run: CachedRun) -> None:
    found = {}
    for folder in {
        path.parent for pattern in ("*", "*/*") for path in run.output.glob(f"tensorboard/{pattern}/events.*")
    }:
        value = EventAccumulator(str(folder)).Reload().Tensors("eval/ndcg_5")[-1]
        found[folder.name] = hparams_of(folder)["model.epsilon"], value
    trials = {f"trial-{trial['number']:03}": trial for trial in results(run)["trials"]}
    assert found.keys() > trials.keys()
    for name, trial in trials.items():
        epsilon, value = found.pop(name)
        assert (epsilon, tf.make_ndarray(value.tensor_proto)) == (
            trial["settings"]["model.epsilon"],
            pytest.approx(trial["value"]),
        )
    ((epsilon, _),) = found.values()
    assert epsilon == max(trials.values(), key=lambda trial: trial["value"])["settings"]["model.epsilon"]


def test_the_resolved_configuration_holds_the_search(run: CachedRun) -> None:
    tuning = yaml.safe_load((run.output / "config.yaml").read_text())["tuning"]
    assert tuning == {"search": "grid", "trials": None, "epochs": None, "epsilon": [0.5, 2], "theta": None}


def test_the_resolved_configuration_says_what_the_search_found(run: CachedRun) -> None:
    best = max(results(run)["trials"], key=lambda trial: trial["value"])
    line = (run.output / "config.yaml").read_text().splitlines()[1]
    assert line == f"# Its search found, and the model was trained with: {json.dumps(best['settings'])}"


def test_the_best_trial_is_reported_and_no_unfinished_one_is_left(run: CachedRun) -> None:
    log = run.log.read_text()
    assert "trial 2/2: epsilon 2: eval ndcg_5 " in log
    assert "\nbest of 2 trials: epsilon " in log
    assert "  tuning/       results.json, results.md, results.svg\n" in log
    assert not (run.output / "artifacts" / "checkpoints").exists()


@pytest.mark.long
def test_a_search_that_is_killed_completes_with_equal_results(run: CachedRun, tmp_path: Path) -> None:
    output, log = tmp_path / "out", tmp_path / "log"
    arguments = ["run", run.output / "config.yaml", "--set", f"output={output}"]
    for kill in (Kill("Tuner", epoch=1), Kill("Tuner")):
        assert clir(*arguments, log=log, kill=kill) == KILLED, log.read_text()
    assert clir(*arguments, log=log) == 0, log.read_text()
    assert log.read_text().count("going on after epoch 1, which an earlier run had reached") == 1
    assert (output / "tuning" / "results.json").read_bytes() == (run.output / "tuning" / "results.json").read_bytes()
    assert evaluation(output) == evaluation(run.output)


@pytest.mark.long
def test_lost_results_come_back(run: CachedRun) -> None:
    folder = run.output / "tuning"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    for file in run.output.glob("artifacts/Tuner/tuner_results/[0-9]*/trials.json"):
        file.unlink()
    assert run(*SEARCH) == {"Tuner"}  # for its files alone
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_the_search_replaces_runs_nothing(run: CachedRun) -> None:
    assert run(*SEARCH, "model.epsilon=0.7") == set()


@pytest.mark.long
def test_a_search_in_workers_finds_what_one_device_finds(run: CachedRun) -> None:
    assert run(*SEARCH) == set()
    alone = results(run)["trials"]
    assert {"Tuner", "Trainer"} <= run(*SEARCH, "training.workers=2")
    # Sums of floats in another order: ranks of documents that are nearly equal may change.
    for one, other in zip(alone, results(run)["trials"], strict=True):
        assert one["settings"] == other["settings"]
        assert other["value"] == pytest.approx(one["value"], abs=0.02)
    assert run.log.read_text().count("training in 2 workers, each on CPU:0") == 3
