"""pipeline/pipeline.py: which stages' parameters, and so which stages' cache keys, an edit or a setting changes."""

import shutil
from collections.abc import Sequence
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


def test_equal_configurations_have_equal_keys() -> None:
    assert changed(parameters(), parameters()) == set()


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("data.negatives=20", {"WikiClirExampleGen"}),
        ("data.seed=2", {"WikiClirExampleGen"}),
        ("data.max_queries=100", {"WikiClirExampleGen"}),
        ("data.top_grade=3", {"WikiClirExampleGen", "Trainer", "Evaluator"}),
        ("data.max_document_tokens=100", {"Transform", "LexicalBaseline"}),
        ("data.sha256.documents=0f", {"WikiClirExampleGen", "LexicalBaseline"}),
        ("data.sha256.queries=0f", {"WikiClirExampleGen"}),
        ("model.epsilon=0.5", {"Trainer"}),
        ("model.vocabulary_size=10", {"Transform"}),
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


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("schemas/wikiclir.py", {"WikiClirExampleGen", "LexicalBaseline"}),
        ("components/wikiclir_example_gen/sampling.py", {"WikiClirExampleGen"}),
        ("components/lexical_baseline/bm25.py", {"LexicalBaseline"}),
        ("components/transform/preprocessing.py", {"Transform"}),
        ("models/tokens.py", {"Transform", "LexicalBaseline"}),
        ("models/losses/sosl.py", {"Trainer"}),
        ("models/losses/pair_loss.py", {"Trainer"}),
        ("models/losses/mse.py", set()),
        ("models/layers/smooth_cosine.py", {"Trainer"}),
        ("models/metrics.py", {"LexicalBaseline", "Trainer", "Evaluator"}),
        ("models/versions.py", {"Evaluator", "Pusher"}),
        ("components/evaluator/gate.py", {"Evaluator"}),
        ("components/evaluator/comparison.py", {"Evaluator"}),
        ("components/example_validator/executor.py", {"ExampleValidator"}),
        ("components/pusher/executor.py", {"Pusher"}),
        ("pipeline/progress.py", set()),
    ],
)
def test_an_edit_changes_the_stages_that_run_the_code_and_no_others(
    file: str, stages: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = parameters()
    for room in ("schemas", "models", "components", "pipeline"):
        shutil.copytree(ROOT / room, tmp_path / room)
    (tmp_path / file).write_text((ROOT / file).read_text() + "\n# edited\n")
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    assert changed(before, parameters()) == stages


def test_the_schemas_content_is_in_its_stages_key(tmp_path: Path) -> None:
    schema = tmp_path / "schema.pbtxt"
    found = []
    for content in ("# one\n", "# two\n"):
        schema.write_text(content)
        found.append(parameters(schema=str(schema)))
    assert changed(*found) == {"ImportSchemaGen"}
