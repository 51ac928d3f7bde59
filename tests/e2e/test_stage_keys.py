"""pipeline/pipeline.py: which stages' parameters, and so which stages' cache keys, an edit or a setting changes."""

import shutil
from pathlib import Path

import pytest

from pipeline import fingerprint
from pipeline.config import load_config
from tests.e2e.process import ROOT

pytestmark = pytest.mark.e2e

Parameters = dict[str, dict[str, object]]


def parameters(*overrides: str, schema: str = str(ROOT / "schemas" / "schema.pbtxt")) -> Parameters:
    """The parameters of every stage, for the sample's configuration."""
    from pipeline.pipeline import create_pipeline  # here, so that quick tests collect this file without TFX

    config = load_config(str(ROOT / "configs" / "sample.yaml"), overrides)
    pipeline = create_pipeline(config, "/artifacts", schema, f"{config.output}/serving")
    return {component.id: dict(component.exec_properties) for component in pipeline.components}


def changed(before: Parameters, after: Parameters) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


def changed_by_an_edit(file: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *overrides: str) -> set[str]:
    """The stages whose keys change with one of the code's files, for a copy of the code in the folder."""
    before = parameters(*overrides)
    for room in ("schemas", "models", "components", "pipeline"):
        shutil.copytree(ROOT / room, folder / room)
    (folder / file).write_text((ROOT / file).read_text() + "\n# edited\n")
    monkeypatch.setattr(fingerprint, "_ROOT", folder)
    return changed(before, parameters(*overrides))


def test_equal_configurations_have_equal_keys() -> None:
    assert changed(parameters(), parameters()) == set()


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("data.negatives=20", {"WikiClirExampleGen"}),
        ("data.used_negatives=20", {"Trainer", "Evaluator"}),
        ("data.seed=2", {"WikiClirExampleGen"}),
        ("data.max_queries=100", {"WikiClirExampleGen"}),
        ("data.top_grade=3", {"WikiClirExampleGen", "Trainer", "Evaluator"}),
        ("data.max_document_tokens=100", {"Transform", "LexicalBaseline"}),
        ("data.sha256.documents=0f", {"WikiClirExampleGen", "LexicalBaseline"}),
        ("data.sha256.queries=0f", {"WikiClirExampleGen"}),
        ("model.epsilon=0.5", {"Trainer"}),
        ("model.encoder=cnn", {"Trainer"}),
        ("model.vocabulary_size=10", {"Transform"}),
        ("model.embedding_dim=32", {"Trainer"}),
        ("embeddings.train=false", set()),
        ("loss.theta=[0.3, 0.7]", {"Trainer"}),
        ("loss.name=mse", {"Trainer"}),
        ("training.learning_rate=0.01", {"Trainer"}),
        ("evaluation.minimums={map: 0.5}", {"Evaluator"}),
        ("evaluation.compared_metric=map", {"Evaluator"}),
        ("evaluation.significance=0.01", {"Evaluator"}),
        ("evaluation.start_anew=true", {"Evaluator"}),
        ("output=elsewhere", {"Evaluator", "Pusher"}),
    ],
)
def test_a_setting_changes_the_stages_that_use_it_and_no_others(setting: str, stages: set[str]) -> None:
    # SOSL would need another theta for another top grade; softmax has none.
    loss = "loss.name=softmax" if setting.startswith("data.top_grade") else "loss.name=sosl"
    assert changed(parameters(loss), parameters(loss, setting)) == stages


SEARCH = ("tuning.search=grid", "tuning.epsilon=[0.5, 2]", "tuning.epochs=3")


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("tuning.epsilon=[0.5, 1]", {"Tuner"}),
        ("tuning.trials=1", {"Tuner"}),
        ("tuning.epochs=4", {"Tuner"}),
        ("tuning.theta=[[0.2], [0.6, 0.8]]", {"Tuner", "Trainer"}),
        ("training.epochs=4", {"Trainer"}),
        ("training.seed=2", {"Tuner", "Trainer"}),
        ("training.best_metric=map", {"Tuner", "Trainer"}),
        ("model.epsilon=0.5", set()),
        ("model.vocabulary_size=10", {"Transform"}),
        ("loss.theta=[0.3, 0.7]", {"Tuner", "Trainer"}),
    ],
)
def test_a_search_uses_the_settings_of_the_training_but_for_those_it_replaces(setting: str, stages: set[str]) -> None:
    assert changed(parameters(*SEARCH), parameters(*SEARCH, setting)) == stages


def test_thresholds_that_a_search_replaces_are_in_no_key() -> None:
    search = (*SEARCH, "tuning.theta=[[0.2], [0.6, 0.8]]")
    assert changed(parameters(*search), parameters(*search, "loss.theta=[0.3, 0.7]")) == set()


def test_only_a_search_adds_the_tuner() -> None:
    assert parameters(*SEARCH).keys() - parameters(*SEARCH, "tuning.search=null").keys() == {"Tuner"}
    assert changed(parameters(), parameters("tuning.epsilon=[0.5, 2]")) == set()


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("models/trial_search.py", {"Tuner"}),
        ("components/tuner/executor.py", {"Tuner"}),
        ("components/trainer/tuner_fn.py", {"Tuner"}),
        ("components/trainer/run_fn.py", {"Trainer"}),
        ("models/export.py", {"Trainer"}),
        ("models/training.py", {"Tuner", "Trainer"}),
        ("models/losses/sosl.py", {"Tuner", "Trainer"}),
    ],
)
def test_an_edit_changes_the_search_where_it_runs_the_code(
    file: str, stages: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed_by_an_edit(file, tmp_path, monkeypatch, *SEARCH) == stages


@pytest.mark.parametrize(
    "setting",
    [
        "embeddings.document=other.vec",
        "embeddings.query=null",
        "embeddings.sha256.query=0f",
        "embeddings.train=false",
        "model.embedding_dim=3",
        "model.vocabulary_size=10",
    ],
)
def test_what_decides_the_word_vectors_changes_the_stages_that_read_them(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("en.vec", "other.vec"):
        (tmp_path / name).write_text("the 1 2\nwolf 1 2 3\n")  # a vector of each width
    before = ("embeddings.query=en.vec", "model.embedding_dim=2")
    assert changed(parameters(*before), parameters(*before, setting)) == {"Transform", "Trainer"}


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("schemas/wikiclir.py", {"WikiClirExampleGen", "LexicalBaseline", "Transform", "Trainer"}),
        ("components/wikiclir_example_gen/sampling.py", {"WikiClirExampleGen"}),
        ("components/lexical_baseline/bm25.py", {"LexicalBaseline"}),
        ("components/transform/preprocessing.py", {"Transform"}),
        ("models/tokens.py", {"Transform", "LexicalBaseline", "Trainer"}),
        ("models/word_table.py", {"Transform", "Trainer"}),
        ("schemas/polyglot_pickle.py", {"Transform", "Trainer"}),
        ("models/losses/sosl.py", {"Trainer"}),
        ("models/losses/pair_loss.py", {"Trainer"}),
        ("models/losses/mse.py", set()),
        ("models/layers/smooth_cosine.py", {"Trainer"}),
        ("models/layers/mean_embedding.py", {"Trainer"}),
        ("models/layers/cnn_encoder.py", set()),
        ("models/metrics.py", {"LexicalBaseline", "Trainer", "Evaluator"}),
        ("models/versions.py", {"Evaluator", "Pusher"}),
        ("components/evaluator/gate.py", {"Evaluator"}),
        ("components/evaluator/comparison.py", {"Evaluator"}),
        ("components/example_validator/executor.py", {"ExampleValidator"}),
        ("components/pusher/executor.py", {"Pusher"}),
        ("cli/progress.py", set()),
    ],
)
def test_an_edit_changes_the_stages_that_run_the_code_and_no_others(
    file: str, stages: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed_by_an_edit(file, tmp_path, monkeypatch) == stages


def test_the_schemas_content_is_in_its_stages_key(tmp_path: Path) -> None:
    schema = tmp_path / "schema.pbtxt"
    found = []
    for content in ("# one\n", "# two\n"):
        schema.write_text(content)
        found.append(parameters(schema=str(schema)))
    assert changed(*found) == {"ImportSchemaGen"}
