"""A small run with a search for epsilon before the training, which starts from word vectors: what it leaves."""

import json
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  its ops are in the model
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.e2e.process import DECIDES, SMALL, STAGES, SampleRun
from tests.hparams_of import hparams_of

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """A run with a grid of two trials on few lists."""
    folder = tmp_path_factory.mktemp("tuning")
    table = folder / "en.vec"
    table.write_text("4 3\nzorilla 1 -2 0.5\nwater 1 0 0\nwater 0 1 0\n<UNK> 0 0 1\n")
    settings = [
        *(*SMALL, "data.max_queries=40", "channels.towers.embedding_dim=3", f"embeddings.query={table}"),
        *("tuning.search=grid", "tuning.epsilon=[0.5, 2]"),
    ]
    run = SampleRun(folder / "out", "configs/sample.yaml", *(f"--set={setting}" for setting in settings))
    assert run.code == 0, run.err
    assert run.ran == {*STAGES, "Tuner"} - DECIDES
    return run


@pytest.fixture(scope="module")
def trials(run: SampleRun) -> list[dict[str, Any]]:
    """The trials that the run publishes, the best first."""
    results = json.loads((run.output / "tuning" / "results.json").read_text())
    return sorted(results["trials"], key=lambda trial: -trial["value"])


def test_the_trainer_trains_with_what_the_search_found_best(run: SampleRun, trials: list[dict[str, Any]]) -> None:
    assert sorted(trial["settings"]["channels.towers.epsilon"] for trial in trials) == [0.5, 2]
    (history_file,) = run.output.glob("tensorboard/*/training.json")
    training = json.loads(history_file.read_text())
    row = training["history"][training["best_epoch"] - 1]
    assert row["score_gradient/bound"] == 1 / trials[0]["settings"]["channels.towers.epsilon"]
    assert row["eval/ndcg_5"] == trials[0]["value"]
    assert training["searched"] == trials[0]["settings"]


def test_tensorboard_compares_the_trials_with_each_other_and_with_the_training(
    run: SampleRun, trials: list[dict[str, Any]]
) -> None:
    shown = {}
    for folder in {path.parent for depth in ("*", "*/*") for path in run.output.glob(f"tensorboard/{depth}/events.*")}:
        event = EventAccumulator(str(folder)).Reload().Tensors("eval/ndcg_5")[-1]
        shown[folder.name] = hparams_of(folder)["channels.towers.epsilon"], float(tf.make_ndarray(event.tensor_proto))
    for trial in trials:
        epsilon, value = shown.pop(f"trial-{trial['number']:03}")
        assert (epsilon, value) == (trial["settings"]["channels.towers.epsilon"], pytest.approx(trial["value"]))
    ((epsilon, _),) = shown.values()
    assert epsilon == trials[0]["settings"]["channels.towers.epsilon"]


def test_the_resolved_configuration_holds_the_search_and_its_best_trial(
    run: SampleRun, trials: list[dict[str, Any]]
) -> None:
    text = (run.output / "config.yaml").read_text()
    tuning = yaml.safe_load(text)["tuning"]
    assert tuning == {"search": "grid", "trials": None, "epochs": None, "epsilon": [0.5, 2], "theta": None}
    assert text.splitlines()[1].endswith(f": {json.dumps(trials[0]['settings'])}")


def test_trials_are_reported_and_no_unfinished_one_is_left(run: SampleRun) -> None:
    assert "trial 2/2: epsilon 2: eval ndcg_5 " in run.err
    assert "\nbest of 2 trials: epsilon " in run.err
    assert "  tuning/       results.json, results.md, results.svg\n" in run.err
    assert not (run.output / "artifacts" / "checkpoints").exists()


def test_a_grade_that_no_score_can_satisfy_is_a_warning(run: SampleRun) -> None:
    (warning,) = (line for line in run.err.splitlines() if "cannot be reached" in line)
    assert warning.startswith("warning: with embedding_dim 3 ")
    # Another sentence, for the epsilon that the search found.
    assert "which cannot be reached" in (run.output / "training" / "stability.md").read_text()


def test_a_word_that_the_train_split_lacks_keeps_its_vector_in_the_exported_model(
    run: SampleRun, trials: list[dict[str, Any]]
) -> None:
    assert "query word vectors: 4 read, 2 used; left out: 1 mark in angle brackets" in run.err
    (model,) = run.versions
    encode = tf.saved_model.load(str(model)).signatures["encode_query"]
    vector = np.tanh([1, -2, 0.5])
    expected = vector / (np.linalg.norm(vector) + trials[0]["settings"]["channels.towers.epsilon"])
    np.testing.assert_allclose(encode(query=tf.constant(["Zorilla!"]))["vector"][0], expected, atol=1e-6)
    (written,) = run.output.glob("tensorboard/*/embeddings.json")
    report = json.loads(written.read_text())["query"]
    assert (report["read"], report["used"], sum(drop["count"] for drop in report["drops"])) == (4, 2, 2)


@pytest.mark.long
def test_a_search_in_workers_finds_what_one_device_finds(run: SampleRun, trials: list[dict[str, Any]]) -> None:
    again = SampleRun(run.output, run.output / "config.yaml", "--set=training.workers=2")
    assert {"Tuner", "Trainer"} <= again.ran
    assert again.err.count("training in 2 workers, each on CPU:0") == 3
    # Sums of floats in another order: ranks of documents that are nearly equal may change.
    value_of = {trial["number"]: pytest.approx(trial["value"], abs=0.05) for trial in trials}
    results = json.loads((run.output / "tuning" / "results.json").read_text())
    assert {trial["number"]: trial["value"] for trial in results["trials"]} == value_of
