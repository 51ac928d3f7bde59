"""Gate: TFX's blessing, the verdict, and the comparison with the last pushed model."""

import json
import math
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from components.evaluator.evaluate import evaluate
from models.lists.ranking_lists import read_lists
from schemas.errors import DataError
from schemas.evaluation import Comparison, Verdict
from schemas.served_versions import NEWEST_PROPERTY, PUSHED_PROPERTY
from tests.models.encoders.small_encoder import FILES, record_of, write_vectors

pytestmark = pytest.mark.stages

# Six queries that are all worse: a p-value of 1 / 2^6.
LISTS = {f"q{number}": ("fox", {"d1": ("renard", 2), "d2": ("loup", 1), "d3": ("ours", 0)}) for number in range(6)}
P_VALUE = 1 / 2**6
SCORES = {"good": [3, 2, 1], "alike": [6, 4, 2], "bad": [2, 3, 1]}
"""A model's content to its scores of the three documents: the two relevant ones in the right or the wrong order."""
WORSE_NDCG = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))


class Judged(NamedTuple):
    """The result of a judgment: the content of `verdict.json`, and the artifact."""

    verdict: dict[str, Any]
    blessing: Any


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
    from components import gate

    load_and_score, paths = gate.score_lists, []

    def score_lists(path, lists, feedback, encoder=None):
        paths.append(path)
        scores = SCORES.get(Path(path, "saved_model.pb").read_text())
        if not scores:
            return load_and_score(path, lists, feedback, encoder)
        return {"scores": [np.asarray(scores[::-1] if feedback else scores, np.float32)] * len(lists)}

    monkeypatch.setattr(gate, "score_lists", score_lists)
    return paths


@pytest.fixture
def judge(tmp_path, serving, scored, write_model, make_artifact, make_examples):
    """Judges a model that was evaluated, under settings."""
    from components.gate import Gate
    from components.settings import EvaluationSettings

    examples = make_examples(tmp_path, LISTS)
    lists = read_lists(map(str, Path(examples.uri, "Split-test").iterdir()))
    parents = (tmp_path / f"stage_{number}" for number in range(9))

    def judge(model="good", text_vectors=None, **settings):
        parent = next(parents)
        exported, evaluation, blessing = (
            make_artifact(name, parent) for name in ("Model", "ModelEvaluation", "ModelBlessing")
        )
        write_model(Path(exported.uri) / "Format-Serving", model)
        scores = [np.asarray(SCORES[model], np.float32)] * len(lists)
        for name, content in evaluate(lists, scores, {}, 2).files().items():
            (Path(evaluation.uri) / name).write_text(content)
        given = EvaluationSettings(**{"minimums": {}, **settings})
        Gate.test_call(examples, exported, evaluation, blessing, 2, given, str(serving), text_vectors=text_vectors)
        return Judged(json.loads((Path(blessing.uri) / "verdict.json").read_text()), blessing)

    return judge


# What it writes


@pytest.mark.parametrize(("minimum", "marker"), [(0.4, "BLESSED"), (0.6, "NOT_BLESSED")])
def test_the_blessing_is_a_property_a_marker_and_a_verdict_with_the_reason(judge, minimum, marker):
    from tfx.components.util import model_utils

    verdict, blessing = judge("bad", minimums={"mrr_mr": minimum})  # the MR document is the second: 0.5
    assert verdict["blessed"] == model_utils.is_model_blessed(blessing) == (marker == "BLESSED")
    assert {path.name for path in Path(blessing.uri).iterdir()} == {marker, "verdict.json"}
    assert (Path(blessing.uri) / marker).read_text() == verdict["reason"] + "\n"
    assert "mrr_mr" in verdict["reason"]


@pytest.mark.parametrize(
    ("version", "model", "newest", "is_pushed"), [(None, "good", "", 0), ("7", "good", "7", 1), ("7", "bad", "7", 0)]
)
def test_the_blessing_holds_the_newest_version_and_whether_it_is_this_model(
    judge, serving, write_model, version, model, newest, is_pushed
):
    if version:
        write_model(serving / version, "good")
    _, blessing = judge(model)
    assert blessing.get_string_custom_property(NEWEST_PROPERTY) == newest
    assert blessing.get_int_custom_property(PUSHED_PROPERTY) == is_pushed


# Beside the last pushed model


def test_the_first_model_is_compared_with_none(judge, scored):
    assert judge("bad").verdict == {
        "blessed": True,
        "reason": "no minimum is set; no model was pushed before",
        "comparison": None,
    }
    assert scored == []


@pytest.mark.parametrize("names", [["²"], [".incoming"], ["notes", "007", "8.bak", "-9", "٣"]])
def test_a_folder_that_is_no_version_was_never_pushed(judge, scored, serving, write_model, names):
    for name in names:
        write_model(serving / name, "good")
    verdict, blessing = judge("bad")
    assert verdict["reason"].endswith("; no model was pushed before")
    assert blessing.get_string_custom_property(NEWEST_PROPERTY) == ""
    assert scored == []


def test_a_model_worse_than_the_last_pushed_one_is_refused_with_the_evidence(judge, scored, serving, write_model):
    from tfx.components.util import model_utils

    write_model(serving / "9", "bad")
    write_model(serving / "10", "good")  # the last by number, not as a word
    write_model(serving / "²", "bad")
    verdict, blessing = judge("bad")
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
    assert scored == [str(serving / "10")]  # the model itself was scored when it was evaluated


@pytest.mark.parametrize("last", ["bad", "alike"])
def test_a_model_that_is_better_or_ranks_alike_is_blessed(judge, serving, write_model, last):
    write_model(serving / "7", last)
    verdict = judge("good").verdict
    assert verdict["blessed"]
    assert "not significantly worse than version 7" in verdict["reason"]
    assert verdict["comparison"]["p_value"] == pytest.approx(1)


def test_both_models_are_compared_on_the_same_lists_by_the_chosen_metric(judge, serving, write_model):
    write_model(serving / "7", "good")
    comparison = judge("bad", compared_metric="p_mr_1").verdict["comparison"]
    assert (comparison["metric"], comparison["value"], comparison["last_value"]) == ("p_mr_1", 0, 1)
    assert judge("bad", compared_metric="p_r_5").verdict["blessed"]  # both have the relevant documents among the five


@pytest.mark.parametrize(("significance", "blessed"), [(P_VALUE / 2, True), (P_VALUE * 2, False)])
def test_the_significance_decides(judge, serving, write_model, significance, blessed):
    write_model(serving / "7", "good")
    verdict = judge("bad", significance=significance).verdict
    assert (verdict["blessed"], verdict["comparison"]["significance"]) == (blessed, significance)


def test_the_last_pushed_model_is_given_the_same_feedback(judge, serving, write_model):
    write_model(serving / "7", "good")
    assert not judge("bad").verdict["blessed"]
    assert judge("bad", feedback=4.0).verdict["blessed"]  # the other is as bad, with feedback


@pytest.fixture
def pushed_with(monkeypatch, serving, write_model):
    """Pushes a model with the encoder of a record, or without any; returns the encoders that were given for its lists,
    which it asks for the vectors of a text."""
    from components import gate
    from models.encoders.served_vectors import served_encoder

    def push(record):
        given = []

        def score_lists(path, lists, feedback, encoder=None):
            given.append(encoder)
            if record and not encoder:
                served_encoder(record).encode(["fox"], "query")
            return {"scores": [np.asarray(SCORES["good"], np.float32)] * len(lists)}

        class Pushed:
            def __init__(self, path):
                self.encoder_record = record

        write_model(serving / "7", "good")
        monkeypatch.setattr(gate, "LoadedModel", Pushed)
        monkeypatch.setattr(gate, "score_lists", score_lists)
        return given

    return push


@pytest.fixture
def text_vectors(tmp_path, make_artifact):
    """The vectors of a run whose encoder has the digest `this`."""
    artifact = make_artifact("TextVectors", tmp_path)
    write_vectors(artifact.uri, {"query": ["fox"], "document": ["renard"]}, settings=FILES, digest="this")
    return artifact


def test_a_pushed_model_with_the_run_s_encoder_is_given_the_run_s_vectors(judge, pushed_with, text_vectors):
    given = pushed_with(record_of(FILES, digest="this"))
    assert judge("bad", text_vectors).verdict["comparison"]["version"] == "7"
    assert [encoder.record.digest for encoder in given] == ["this"]


def test_a_pushed_model_without_an_encoder_is_given_no_vectors(judge, pushed_with, text_vectors):
    given = pushed_with(None)
    assert judge("bad", text_vectors).verdict["comparison"]["version"] == "7"
    assert given == [None]


@pytest.mark.parametrize("has_vectors", [True, False])
def test_a_pushed_model_with_vectors_of_another_encoder_in_files_is_refused_with_the_remedy(
    judge, pushed_with, text_vectors, has_vectors
):
    given = pushed_with(record_of(FILES, digest="that"))
    with pytest.raises(DataError) as error:
        judge("bad", text_vectors if has_vectors else None)
    assert given == [None]
    assert str(error.value).startswith("the last pushed model: a new query must be encoded, but this model's vectors")
    assert str(error.value).endswith("\nRemove it, or set evaluation.start_anew.")
    assert judge("bad", text_vectors, start_anew=True).verdict["blessed"]


@pytest.mark.parametrize("start_anew", [False, True])
def test_a_model_is_never_compared_with_itself(judge, scored, serving, write_model, start_anew):
    write_model(serving / "7", "good")
    verdict = judge("good", start_anew=start_anew).verdict
    assert verdict["reason"].endswith("; not compared with version 7, which is this very model")
    assert (verdict["blessed"], verdict["comparison"]) == (True, None)
    assert scored == []


def test_a_model_that_is_pushed_already_is_still_refused_below_a_minimum(judge, serving, write_model):
    write_model(serving / "7", "good")
    verdict, blessing = judge("good", minimums={"p_r_5": 0.5})
    assert not verdict["blessed"]
    assert blessing.get_int_custom_property(PUSHED_PROPERTY) == 1


@pytest.mark.parametrize("last", ["good", "no model at all"])
def test_start_anew_compares_with_nothing_and_needs_no_whole_version(judge, scored, serving, write_model, last):
    write_model(serving / "7", last)
    verdict = judge("bad", start_anew=True).verdict
    assert verdict["reason"].endswith("; not compared with version 7, as evaluation.start_anew asks")
    assert (verdict["blessed"], verdict["comparison"]) == (True, None)
    assert scored == []


def test_a_last_version_that_cannot_be_loaded_is_refused_with_the_remedy(judge, serving, write_model):
    write_model(serving / "7", "no model at all")
    with pytest.raises(DataError) as error:
        judge()
    assert str(error.value).startswith(f"the last pushed model: {serving}/7 must hold a whole SavedModel")
    assert str(error.value).endswith("\nRemove it, or set evaluation.start_anew.")


def test_the_serving_folder_is_looked_up_each_time_the_stage_runs(judge, serving, write_model):
    found = []
    for version in (None, "7", "8"):
        if version:
            write_model(serving / version, "good")
        found.append((judge("bad").verdict["comparison"] or {}).get("version"))
    shutil.rmtree(serving / "8")
    found.append(judge("bad").verdict["comparison"]["version"])
    assert found == [None, "7", "8", "7"]


# The verdict and its reason

RANDOM = {"map": 0.1, "ndcg_5": 0.2}
PERFECT = {"map": 1.0, "ndcg_5": 1.0}
FIRST = "no model was pushed before"


def verdict_of(*arguments):
    """The pure judgment."""
    from components.gate import judge

    return judge(*arguments)


@pytest.mark.parametrize(
    ("metrics", "minimums", "blessed", "reason"),
    [
        ({"map": 0.5, "ndcg_5": 0.3}, None, True, "all metrics are above those of random order"),
        ({"map": 0.5, "ndcg_5": 0.2}, None, False, "ndcg_5 must lie above random order's 0.2000; got 0.2000"),
        (
            {"map": 0.0, "ndcg_5": 0.1},
            None,
            False,
            "map must lie above random order's 0.1000; got 0.0000; "
            "ndcg_5 must lie above random order's 0.2000; got 0.1000",
        ),
        ({"map": 0.6, "ndcg_5": 0.0}, {"map": 0.6}, True, "map 0.6000 reaches 0.6000"),
        ({"map": 0.5, "ndcg_5": 0.9}, {"map": 0.6}, False, "map must reach 0.6000; got 0.5000"),
        (
            {"map": 0.5, "ndcg_5": 0.9},
            {"map": 0.6, "ndcg_5": 1.0},
            False,
            "map must reach 0.6000; got 0.5000; ndcg_5 must reach 1.0000; got 0.9000",
        ),
        (
            {"map": 0.5, "ndcg_5": 0.9},
            {"map": 0.4, "ndcg_5": 0.9},
            True,
            "map 0.5000 reaches 0.4000, ndcg_5 0.9000 reaches 0.9000",
        ),
        ({"map": 0.0, "ndcg_5": 0.0}, {}, True, "no minimum is set"),
    ],
)
def test_verdict_names_every_metric_that_decides(metrics, minimums, blessed, reason):
    reason = f"{reason}; {FIRST}" if blessed else reason
    expected = Verdict(blessed=blessed, reason=reason, comparison=None)
    assert verdict_of(metrics, RANDOM, PERFECT, minimums, FIRST) == expected


def test_a_metric_that_even_a_perfect_order_cannot_raise_is_neither_required_nor_named():
    random, perfect = {"recall_mr_5": 1.0, "map": 0.1}, {"recall_mr_5": 1.0, "map": 1.0}
    verdict = verdict_of({"recall_mr_5": 1.0, "map": 0.5}, random, perfect, None, FIRST)
    assert verdict == Verdict(blessed=True, reason=f"above random order: map; {FIRST}", comparison=None)


@pytest.mark.parametrize("minimums", [None, {"map": 0.5}, {"map": 0.0, "ndcg_5": 0.0}])
@pytest.mark.parametrize("rounding", [0.0, 6e-9, -6e-9])
def test_lists_that_show_nothing_of_a_model_bless_none(minimums, rounding):
    expected = {"map": 1.0, "ndcg_5": 0.4}
    reached = {key: value + rounding for key, value in expected.items()}
    verdict = verdict_of(reached, expected, reached, minimums, FIRST)
    assert not verdict.blessed
    names = "any metric" if minimums is None else " or ".join(minimums)
    assert f"by {names}, a perfect order of them is no better than random order" in verdict.reason


def test_a_model_that_rounding_lifts_above_random_order_is_refused():
    verdict = verdict_of({"map": 0.1 + 6e-9}, {"map": 0.1}, {"map": 1.0}, None, FIRST)
    assert verdict.reason == "map must lie above random order's 0.1000; got 0.1000"


def test_a_metric_that_is_not_a_number_reaches_nothing():
    assert not verdict_of({"map": float("nan")}, RANDOM, PERFECT, {"map": 0.0}, FIRST).blessed


# Verdicts beside the last pushed model

GOOD = {"map": 0.5, "ndcg_5": 0.3}
PASSED = "all metrics are above those of random order"
EVIDENCE = "version 7 (ndcg_5 0.3000 against 0.4000, p = {:.4f})"


def compared(p_value):
    return Comparison(
        version="7", metric="ndcg_5", value=GOOD["ndcg_5"], last_value=0.4, p_value=p_value, significance=0.05
    )


@pytest.mark.parametrize(
    "reason",
    [
        "no model was pushed before",
        "not compared with version 7, as evaluation.start_anew asks",
        "not compared with version 7, which is this very model",
    ],
)
def test_the_reason_for_no_comparison_is_in_the_verdict(reason):
    assert verdict_of(GOOD, RANDOM, PERFECT, None, reason) == Verdict(
        blessed=True, reason=f"{PASSED}; {reason}", comparison=None
    )


@pytest.mark.parametrize("p_value", [0.05, 0.3, 1.0])
def test_a_model_that_is_not_significantly_worse_is_blessed_with_the_evidence(p_value):
    reason = f"{PASSED}; not significantly worse than {EVIDENCE.format(p_value)}"
    assert verdict_of(GOOD, RANDOM, PERFECT, None, compared(p_value)) == Verdict(
        blessed=True, reason=reason, comparison=compared(p_value)
    )


@pytest.mark.parametrize("minimums", [None, {}, {"map": 0.5}])
def test_a_significantly_worse_model_is_refused_with_the_remedy(minimums):
    assert verdict_of(GOOD, RANDOM, PERFECT, minimums, compared(0.04)) == Verdict(
        blessed=False,
        reason=f"the model is significantly worse than {EVIDENCE.format(0.04)}; "
        "to push it all the same, set evaluation.start_anew",
        comparison=compared(0.04),
    )


def test_a_model_below_a_minimum_is_refused_even_where_it_is_not_worse():
    assert verdict_of(GOOD, RANDOM, PERFECT, {"map": 0.6}, compared(1.0)) == Verdict(
        blessed=False, reason="map must reach 0.6000; got 0.5000", comparison=compared(1.0)
    )


def test_a_missed_minimum_and_a_worse_model_are_named_together():
    verdict = verdict_of(GOOD, RANDOM, PERFECT, {"map": 0.6}, compared(0.001))
    assert not verdict.blessed
    assert verdict.reason.startswith(
        "map must reach 0.6000; got 0.5000; the model is significantly worse than version 7 ("
    )
