"""The executor of Evaluator: what it writes, TFX's blessing, and the last pushed model that it compares with."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import DataError
from schemas.trec import parse_run

pytestmark = pytest.mark.beam

# Six queries that are all worse: a p-value of 1 / 2^6.
LISTS = {f"q{number}": ("fox", {"d1": ("renard", 2), "d2": ("loup", 1), "d3": ("ours", 0)}) for number in range(6)}
P_VALUE = 1 / 2**6
SCORES = {"good": [3, 2, 1], "alike": [6, 4, 2], "bad": [2, 3, 1]}
"""What a model of that content gives the three documents: the two relevant ones in the right order, or the wrong."""
WORSE_NDCG = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))


@pytest.fixture
def serving(tmp_path) -> Path:
    return tmp_path / "serving"


@pytest.fixture
def write_model():
    """Writes a model's file, whose content names its scores."""

    def write(folder, content):
        Path(folder).mkdir(parents=True)
        Path(folder, "saved_model.pb").write_text(content)

    return write


@pytest.fixture
def scored(monkeypatch):
    """The models that were asked for scores; one whose content names none is really loaded."""
    from components.evaluator import executor as evaluator

    load_and_score, paths = evaluator.score_lists, []

    def score_lists(path, lists):
        paths.append(path)
        scores = SCORES.get(Path(path, "saved_model.pb").read_text())
        return [np.asarray(scores, np.float32)] * len(lists) if scores else load_and_score(path, lists)

    monkeypatch.setattr(evaluator, "score_lists", score_lists)
    return paths


@pytest.fixture
def do(tmp_path, serving, scored, write_model, make_artifact, make_examples):
    """Evaluates a model under settings; returns the evaluation's folder and the blessing."""
    from components.evaluator import executor as evaluator

    examples, baseline = make_examples(tmp_path, LISTS), make_artifact("RankingRun", tmp_path)
    rows = [f"{query_id} Q0 {doc_id} 1 0 bm25\n" for query_id, (_, documents) in LISTS.items() for doc_id in documents]
    (Path(baseline.uri) / "run.trec").write_text("".join(rows))
    parents = (tmp_path / f"stage_{number}" for number in range(9))

    def do(model="good", **settings):
        parent = next(parents)
        exported, evaluation, blessing = (
            make_artifact(name, parent) for name in ("Model", "ModelEvaluation", "ModelBlessing")
        )
        write_model(Path(exported.uri) / "Format-Serving", model)
        evaluator.Executor().Do(
            {
                evaluator.EXAMPLES_KEY: [examples],
                evaluator.MODEL_KEY: [exported],
                evaluator.BASELINE_KEY: [baseline],
            },
            {evaluator.EVALUATION_KEY: [evaluation], evaluator.BLESSING_KEY: [blessing]},
            {
                evaluator.TOP_GRADE_KEY: 2,
                evaluator.SETTINGS_KEY: json.dumps({"minimums": {}, **settings}),
                evaluator.SERVING_KEY: str(serving),
            },
        )
        return Path(evaluation.uri), blessing

    return do


@pytest.fixture
def judge(do):
    """Evaluates a model under settings; returns the verdict."""

    def judge(model="good", **settings):
        _, blessing = do(model, **settings)
        return json.loads(blessing.get_string_custom_property("verdict"))

    return judge


# What it writes


def test_the_evaluation_is_written_for_machines_and_for_trec_eval(do):
    folder, _ = do()
    assert {path.name for path in folder.iterdir()} == {"metrics.json", "run.trec", "qrels.trec"}
    report = json.loads((folder / "metrics.json").read_text())
    assert (report["split"], report["queries"], report["metrics"]["p_mr_1"]) == ("test", len(LISTS), 1)
    assert {*report["floors"]} == {"random", "bm25"}
    with (folder / "run.trec").open() as run:
        assert parse_run(run) == {query_id: {"d1": 3, "d2": 2, "d3": 1} for query_id in LISTS}
    assert (folder / "qrels.trec").read_text().startswith("q0 0 d1 2\nq0 0 d2 1\nq0 0 d3 0\nq1 0 d1 2\n")


@pytest.mark.parametrize(("minimum", "marker"), [(0.3, "BLESSED"), (0.5, "NOT_BLESSED")])
def test_the_blessing_is_a_property_and_a_file_with_the_verdict_s_reason(do, minimum, marker):
    from tfx.components.util import model_utils

    _, blessing = do(minimums={"p_r_5": minimum})  # two relevant documents in five places: 0.4
    verdict = json.loads(blessing.get_string_custom_property("verdict"))
    assert verdict["blessed"] == model_utils.is_model_blessed(blessing) == (marker == "BLESSED")
    (file,) = Path(blessing.uri).iterdir()
    assert (file.name, file.read_text()) == (marker, verdict["reason"] + "\n")
    assert "p_r_5" in verdict["reason"]


def test_the_metrics_do_not_depend_on_what_was_pushed_before(do, serving, write_model):
    (alone, _), _ = do("bad"), write_model(serving / "7", "good")
    beside, _ = do("bad")
    for name in ("metrics.json", "run.trec", "qrels.trec"):
        assert (alone / name).read_bytes() == (beside / name).read_bytes()


# Beside the last pushed model


def test_the_first_model_is_compared_with_none(judge):
    assert judge("bad") == {
        "blessed": True,
        "reason": "no minimum is set; no model was pushed before",
        "comparison": None,
    }


def test_a_model_worse_than_the_last_pushed_one_is_refused_with_the_evidence(do, serving, write_model):
    from tfx.components.util import model_utils

    write_model(serving / "9", "bad")
    write_model(serving / "10", "good")  # the last by number, not as a word
    _, blessing = do("bad")
    verdict = json.loads(blessing.get_string_custom_property("verdict"))
    assert verdict == {
        "blessed": False,
        "reason": f"the model is significantly worse than version 10 (ndcg_5 {WORSE_NDCG:.4f} against 1.0000, "
        f"p = {P_VALUE:.4f}); to push it all the same, set evaluation.start_anew",
        "comparison": {
            "version": "10",
            "metric": "ndcg_5",
            "value": pytest.approx(WORSE_NDCG),
            "last_value": pytest.approx(1),
            "p_value": pytest.approx(P_VALUE),
            "significance": 0.05,
        },
    }
    assert not model_utils.is_model_blessed(blessing)


@pytest.mark.parametrize("last", ["bad", "alike"])
def test_a_model_that_is_better_or_ranks_alike_is_blessed(judge, serving, write_model, last):
    write_model(serving / "7", last)
    verdict = judge("good")
    assert verdict["blessed"]
    assert "not significantly worse than version 7" in verdict["reason"]
    assert verdict["comparison"]["p_value"] == pytest.approx(1)


def test_both_models_are_scored_on_the_same_lists_by_the_chosen_metric(judge, serving, write_model):
    write_model(serving / "7", "good")
    comparison = judge("bad", compared_metric="p_mr_1")["comparison"]
    assert (comparison["metric"], comparison["value"], comparison["last_value"]) == ("p_mr_1", 0, 1)
    assert judge("bad", compared_metric="p_r_5")["blessed"]  # both have the relevant documents among the five


@pytest.mark.parametrize(("significance", "blessed"), [(P_VALUE / 2, True), (P_VALUE * 2, False)])
def test_the_significance_decides(judge, serving, write_model, significance, blessed):
    write_model(serving / "7", "good")
    verdict = judge("bad", significance=significance)
    assert (verdict["blessed"], verdict["comparison"]["significance"]) == (blessed, significance)


def test_a_model_is_never_compared_with_itself(judge, scored, serving, write_model):
    write_model(serving / "7", "good")
    verdict = judge("good")
    assert verdict["reason"].endswith("; not compared with version 7, which is this very model")
    assert (verdict["blessed"], verdict["comparison"]) == (True, None)
    assert str(serving / "7") not in scored


@pytest.mark.parametrize("last", ["good", "no model at all"])
def test_start_anew_compares_with_nothing_and_needs_no_whole_version(judge, scored, serving, write_model, last):
    write_model(serving / "7", last)
    verdict = judge("bad", start_anew=True)
    assert verdict["reason"].endswith("; not compared with version 7, as evaluation.start_anew asks")
    assert (verdict["blessed"], verdict["comparison"]) == (True, None)
    assert str(serving / "7") not in scored


def test_a_last_version_that_cannot_be_loaded_says_what_to_do(do, serving, write_model):
    write_model(serving / "7", "no model at all")
    with pytest.raises(DataError) as error:
        do()
    assert str(error.value).startswith(f"the last pushed model: {serving}/7 must hold a whole SavedModel")
    assert str(error.value).endswith("\nRemove it, or set evaluation.start_anew.")


def test_the_serving_folder_is_looked_up_each_time_the_stage_runs(judge, serving, write_model):
    found = []
    for version in (None, "7", "8"):
        if version:
            write_model(serving / version, "good")
        found.append((judge("bad")["comparison"] or {}).get("version"))
    assert found == [None, "7", "8"]
