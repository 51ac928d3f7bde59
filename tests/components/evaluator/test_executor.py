"""The executor of Evaluator: what it writes, and TFX's blessing."""

import json
from pathlib import Path

import numpy as np
import pytest

from schemas.trec import parse_run

pytestmark = pytest.mark.beam

LISTS = {
    "q1": ("fox", {"d1": ("renard", 2), "d2": ("loup", 0)}),
    "q2": ("wolf", {"d2": ("loup", 2), "d3": ("ours", 1)}),
}


@pytest.fixture
def do(tmp_path, make_artifact, make_examples, monkeypatch):
    """Evaluates a model that scores the documents of each list 1, 0; returns the two outputs."""
    from components.evaluator import executor as evaluator

    examples = make_examples(tmp_path, LISTS)
    model, baseline = make_artifact("Model", tmp_path), make_artifact("RankingRun", tmp_path)
    (Path(model.uri) / "Format-Serving").mkdir()
    rows = [f"{query_id} Q0 {doc_id} 1 0 bm25\n" for query_id, (_, documents) in LISTS.items() for doc_id in documents]
    (Path(baseline.uri) / "run.trec").write_text("".join(rows))
    monkeypatch.setattr(
        evaluator,
        "score_lists",
        lambda path, lists: [np.asarray([1, 0], np.float32)[: len(one.grades)] for one in lists],
    )

    def do(minimums):
        evaluation, blessing = make_artifact("ModelEvaluation", tmp_path), make_artifact("ModelBlessing", tmp_path)
        evaluator.Executor().Do(
            {
                evaluator.EXAMPLES_KEY: [examples],
                evaluator.MODEL_KEY: [model],
                evaluator.BASELINE_KEY: [baseline],
            },
            {evaluator.EVALUATION_KEY: [evaluation], evaluator.BLESSING_KEY: [blessing]},
            {evaluator.TOP_GRADE_KEY: 2, evaluator.MINIMUMS_KEY: json.dumps(minimums)},
        )
        return Path(evaluation.uri), blessing

    return do


def test_the_evaluation_is_written_for_machines_and_for_trec_eval(do):
    folder, _ = do({})
    report = json.loads((folder / "metrics.json").read_text())
    assert (report["split"], report["queries"], report["metrics"]["p_mr_1"]) == ("test", 2, 1)
    assert {*report["floors"]} == {"random", "bm25"}
    with (folder / "run.trec").open() as run:
        assert parse_run(run) == {"q1": {"d1": 1, "d2": 0}, "q2": {"d2": 1, "d3": 0}}
    assert (folder / "qrels.trec").read_text() == "q1 0 d1 2\nq1 0 d2 0\nq2 0 d2 2\nq2 0 d3 1\n"


@pytest.mark.parametrize(("minimum", "marker"), [(0.2, "BLESSED"), (0.4, "NOT_BLESSED")])
def test_the_blessing_is_a_property_and_a_file_with_the_reason(do, minimum, marker):
    from tfx.components.util import model_utils

    _, blessing = do({"p_r_5": minimum})  # three relevant documents in two times five places: 0.3
    assert model_utils.is_model_blessed(blessing) == (marker == "BLESSED")
    (file,) = Path(blessing.uri).iterdir()
    assert file.name == marker and "p_r_5" in file.read_text()
