"""The executor of Evaluator: what it writes, for machines and for trec_eval."""

import json
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import DataError
from schemas.trec import parse_run

pytestmark = pytest.mark.beam

LISTS = {f"q{number}": ("fox", {"d1": ("renard", 2), "d2": ("loup", 1), "d3": ("ours", 0)}) for number in range(6)}
SCORES = [3, 2, 1]
"""What the model gives the three documents of a list."""


@pytest.fixture
def do(tmp_path, make_artifact, make_examples):
    """Evaluates a folder as a model; returns the evaluation's folder."""
    from components.evaluator import executor as evaluator

    examples, baseline = make_examples(tmp_path, LISTS), make_artifact("RankingRun", tmp_path)
    rows = [f"{query_id} Q0 {doc_id} 1 0 bm25\n" for query_id, (_, documents) in LISTS.items() for doc_id in documents]
    (Path(baseline.uri) / "run.trec").write_text("".join(rows))

    def do():
        model, evaluation = make_artifact("Model", tmp_path), make_artifact("ModelEvaluation", tmp_path)
        (Path(model.uri) / "Format-Serving").mkdir()
        evaluator.Executor().Do(
            {evaluator.EXAMPLES_KEY: [examples], evaluator.MODEL_KEY: [model], evaluator.BASELINE_KEY: [baseline]},
            {evaluator.EVALUATION_KEY: [evaluation]},
            {evaluator.TOP_GRADE_KEY: 2},
        )
        return Path(evaluation.uri)

    return do


@pytest.fixture
def scored(monkeypatch):
    """The models that were asked for scores; none is loaded."""
    from components.evaluator import executor as evaluator

    paths = []

    def score_lists(path, lists):
        paths.append(path)
        return [np.asarray(SCORES, np.float32)] * len(lists)

    monkeypatch.setattr(evaluator, "score_lists", score_lists)
    return paths


def test_the_evaluation_is_written_for_machines_and_for_trec_eval(do, scored, tmp_path):
    folder = do()
    assert {path.name for path in folder.iterdir()} == {"metrics.json", "per_query.tsv", "run.trec", "qrels.trec"}
    report = json.loads((folder / "metrics.json").read_text())
    assert (report["split"], report["queries"], report["metrics"]["p_mr_1"]) == ("test", len(LISTS), 1)
    assert {*report["floors"]} == {"random", "bm25"}
    with (folder / "run.trec").open() as run:
        assert parse_run(run) == {query_id: {"d1": 3, "d2": 2, "d3": 1} for query_id in LISTS}
    assert (folder / "per_query.tsv").read_text().splitlines()[:2] == [
        "query_id\tp_mr_1\trecall_mr_5\tp_r_5\tndcg_5\tmap\tmrr_mr\tmrr_r",
        "q0\t1.0\t1.0\t0.4000000059604645\t1.0\t1.0\t1.0\t1.0",
    ]
    assert (folder / "qrels.trec").read_text().startswith("q0 0 d1 2\nq0 0 d2 1\nq0 0 d3 0\nq1 0 d1 2\n")
    assert scored == [str(tmp_path / "Model" / "Format-Serving")]


def test_a_model_that_cannot_be_loaded_is_named(do, tmp_path):
    with pytest.raises(DataError, match=f"^{tmp_path}/Model/Format-Serving must hold a whole SavedModel"):
        do()
