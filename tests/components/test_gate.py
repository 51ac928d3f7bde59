"""Gate: TFX's blessing, the verdict, and the comparison with the last pushed model."""

import json
import math
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from models.evaluation.evaluate_lists import evaluate
from models.lists.ranking_lists import read_lists
from schemas.errors import DataError
from schemas.evaluation import Comparison
from schemas.served_versions import NEWEST_PROPERTY, PUSHED_PROPERTY
from tests.models.encoders.small_encoder import FILES, record_of, write_vectors

pytestmark = pytest.mark.stages  # it imports TFX

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

    def score_lists(path, lists, encoder=None):
        paths.append(path)
        scores = SCORES.get(Path(path, "saved_model.pb").read_text())
        if not scores:
            return load_and_score(path, lists, encoder=encoder)
        return {"scores": [np.asarray(scores, np.float32)] * len(lists)}

    monkeypatch.setattr(gate, "score_lists", score_lists)
    return paths


@pytest.fixture(scope="module")
def examples(make_examples, tmp_path_factory):
    return make_examples(tmp_path_factory.mktemp("examples"), LISTS)


@pytest.fixture
def judge(tmp_path, serving, scored, write_model, make_artifact, examples):
    """Judges a model that was evaluated, under settings."""
    from components.gate import Gate
    from components.settings import EvaluationSettings

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
        settings = EvaluationSettings(**{"minimums": {}, **settings})
        Gate.test_call(examples, exported, evaluation, blessing, 2, settings, str(serving), text_vectors=text_vectors)
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


@pytest.mark.parametrize("names", [[], ["²"], [".incoming"], ["notes", "007", "8.bak", "-9", "٣"]])
def test_without_a_pushed_version_nothing_is_compared(judge, scored, serving, write_model, names):
    for name in names:  # no version has such a name
        write_model(serving / name, "good")
    verdict, blessing = judge("bad")
    assert (verdict["blessed"], verdict["comparison"], scored) == (True, None, [])
    assert blessing.get_string_custom_property(NEWEST_PROPERTY) == ""


def test_a_model_worse_than_the_last_pushed_one_is_refused_with_the_evidence(judge, scored, serving, write_model):
    write_model(serving / "9", "bad")
    write_model(serving / "10", "good")  # the last by number, not as a word
    write_model(serving / "²", "bad")
    verdict = judge("bad").verdict
    assert not verdict["blessed"]
    for shown in ("version 10", f"{WORSE_NDCG:.4f}", "1.0000", f"{P_VALUE:.4f}", "evaluation.start_anew"):
        assert shown in verdict["reason"]
    assert verdict["comparison"] == {
        "version": "10",
        "metric": "ndcg_5",
        "value": pytest.approx(WORSE_NDCG),
        "last_value": pytest.approx(1),
        "p_value": pytest.approx(P_VALUE),
        "significance": 0.05,
    }
    assert scored == [str(serving / "10")]  # the model itself was scored when it was evaluated


@pytest.mark.parametrize("last", ["bad", "alike"])
def test_a_model_that_is_better_or_ranks_alike_is_blessed(judge, serving, write_model, last):
    write_model(serving / "7", last)
    verdict = judge("good").verdict
    assert verdict["blessed"]
    assert (verdict["comparison"]["version"], verdict["comparison"]["p_value"]) == ("7", pytest.approx(1))


def test_metric_and_significance_of_the_settings_decide_the_comparison(judge, serving, write_model):
    write_model(serving / "7", "good")
    comparison = judge("bad", compared_metric="p_mr_1").verdict["comparison"]
    assert (comparison["metric"], comparison["value"], comparison["last_value"]) == ("p_mr_1", 0, 1)
    assert judge("bad", compared_metric="p_r_5").verdict["blessed"]  # both have the relevant documents among the five
    for significance, blessed in ((P_VALUE / 2, True), (P_VALUE * 2, False)):
        verdict = judge("bad", significance=significance).verdict
        assert (verdict["blessed"], verdict["comparison"]["significance"]) == (blessed, significance)


@pytest.fixture
def pushed_with(monkeypatch, serving, write_model):
    """Pushes a model with the encoder of a record, or without any; returns the encoders that were given for its lists,
    which it asks for the vectors of a text."""
    from components import gate
    from models.encoders.load_encoder import served_encoder

    def push(record):
        encoders = []

        def score_lists(path, lists, encoder=None):
            encoders.append(encoder)
            if record and not encoder:
                served_encoder(record).encode(["fox"], "query")
            return {"scores": [np.asarray(SCORES["good"], np.float32)] * len(lists)}

        class Pushed:
            def __init__(self, path):
                self.encoder_record = record

        write_model(serving / "7", "good")
        monkeypatch.setattr(gate, "LoadedModel", Pushed)
        monkeypatch.setattr(gate, "score_lists", score_lists)
        return encoders

    return push


@pytest.fixture
def text_vectors(tmp_path, make_artifact):
    """The vectors of a run whose encoder has the digest `this`."""
    artifact = make_artifact("TextVectors", tmp_path)
    write_vectors(artifact.uri, {"query": ["fox"], "document": ["renard"]}, settings=FILES, digest="this")
    return artifact


@pytest.mark.parametrize(("digest", "digests"), [("this", ["this"]), (None, [None])])
def test_a_pushed_model_with_the_run_s_encoder_alone_is_given_the_run_s_vectors(
    judge, pushed_with, text_vectors, digest, digests
):
    encoders = pushed_with(digest and record_of(FILES, digest=digest))
    assert judge("bad", text_vectors).verdict["comparison"]["version"] == "7"
    assert [encoder and encoder.record.digest for encoder in encoders] == digests


@pytest.mark.parametrize("has_vectors", [True, False])
def test_a_pushed_model_with_vectors_of_another_encoder_in_files_is_refused_with_the_remedy(
    judge, pushed_with, text_vectors, has_vectors
):
    encoders = pushed_with(record_of(FILES, digest="that"))
    with pytest.raises(DataError, match=r"evaluation\.start_anew"):
        judge("bad", text_vectors if has_vectors else None)
    assert encoders == [None]
    assert judge("bad", text_vectors, start_anew=True).verdict["blessed"]


@pytest.mark.parametrize("start_anew", [False, True])
def test_a_model_is_never_compared_with_itself_but_with_its_minimums(judge, scored, serving, write_model, start_anew):
    write_model(serving / "7", "good")
    verdict = judge("good", start_anew=start_anew).verdict
    assert (verdict["blessed"], verdict["comparison"], "version 7" in verdict["reason"]) == (True, None, True)
    verdict, blessing = judge("good", minimums={"p_r_5": 0.5}, start_anew=start_anew)
    assert not verdict["blessed"]
    assert blessing.get_int_custom_property(PUSHED_PROPERTY) == 1
    assert scored == []


def test_a_last_version_that_cannot_be_loaded_is_refused_unless_the_settings_start_anew(
    judge, scored, serving, write_model
):
    write_model(serving / "7", "no model at all")
    with pytest.raises(DataError, match=rf"{serving}/7.*\n.*evaluation\.start_anew"):
        judge()
    scored.clear()
    verdict = judge("bad", start_anew=True).verdict
    assert (verdict["blessed"], verdict["comparison"], scored) == (True, None, [])
    assert "version 7" in verdict["reason"]


def test_the_serving_folder_is_looked_up_each_time_the_stage_runs(judge, serving, write_model):
    versions = []
    for version in (None, "7", "8"):
        if version:
            write_model(serving / version, "good")
        versions.append((judge("bad").verdict["comparison"] or {}).get("version"))
    shutil.rmtree(serving / "8")
    versions.append(judge("bad").verdict["comparison"]["version"])
    assert versions == [None, "7", "8", "7"]


# The verdict and its reason

RANDOM = {"map": 0.1, "ndcg_5": 0.2}
PERFECT = {"map": 1.0, "ndcg_5": 1.0}
NOTHING_BEFORE = "no model was pushed before"


def compared(p_value):
    return Comparison(version="7", metric="ndcg_5", value=0.3, last_value=0.4, p_value=p_value, significance=0.05)


@pytest.mark.parametrize(
    ("metrics", "minimums", "comparison", "faults"),
    [
        ((0.5, 0.3), None, NOTHING_BEFORE, []),
        ((0.5, 0.2), None, NOTHING_BEFORE, ["ndcg_5"]),  # not above random order
        ((0.1 + 6e-9, 0.3), None, NOTHING_BEFORE, ["map"]),  # rounding alone lifts it
        ((0.0, 0.1), None, NOTHING_BEFORE, ["map", "ndcg_5"]),
        ((0.6, 0.0), {"map": 0.6}, NOTHING_BEFORE, []),
        ((0.5, 0.9), {"map": 0.6}, NOTHING_BEFORE, ["map"]),
        ((math.nan, 0.9), {"map": 0.0}, NOTHING_BEFORE, ["map"]),
        ((0.5, 0.9), {"map": 0.6, "ndcg_5": 1.0}, NOTHING_BEFORE, ["map", "ndcg_5"]),
        ((0.5, 0.9), {"map": 0.4, "ndcg_5": 0.9}, NOTHING_BEFORE, []),
        ((0.0, 0.0), {}, NOTHING_BEFORE, []),
        ((0.5, 0.3), None, compared(0.05), []),
        ((0.5, 0.3), {}, compared(1.0), []),
        ((0.5, 0.3), None, compared(0.04), ["version 7"]),
        ((0.5, 0.3), {}, compared(0.04), ["version 7"]),
        ((0.5, 0.3), {"map": 0.6}, compared(1.0), ["map"]),
        ((0.5, 0.3), {"map": 0.6}, compared(0.001), ["map", "version 7"]),
    ],
)
def test_a_verdict_names_everything_that_refuses_the_model_and_nothing_else(metrics, minimums, comparison, faults):
    from components.gate import judge

    values = dict(zip(RANDOM, metrics, strict=True))
    verdict = judge(values, RANDOM, PERFECT, minimums, comparison)
    assert verdict.blessed == (not faults)
    assert verdict.comparison == (comparison if isinstance(comparison, Comparison) else None)
    if not faults:
        wanted = [NOTHING_BEFORE] if verdict.comparison is None else ["version 7", f"{comparison.p_value:.4f}"]
        assert all(shown in verdict.reason for shown in [*(minimums or {}), *wanted])
        return
    named = verdict.reason.split("; ")
    assert all(sum(fault in part for part in named) == 1 for fault in faults)
    for fault in set(faults) - {"version 7"}:
        limit = RANDOM[fault] if minimums is None else minimums[fault]
        assert f"{limit:.4f}" in verdict.reason and f"{values[fault]:.4f}" in verdict.reason
    assert "version 7" in faults or "version 7" not in verdict.reason


def test_a_metric_that_even_a_perfect_order_cannot_raise_is_neither_required_nor_named():
    from components.gate import judge

    random, perfect = {"recall_mr_5": 1.0, "map": 0.1}, {"recall_mr_5": 1.0, "map": 1.0}
    verdict = judge({"recall_mr_5": 1.0, "map": 0.5}, random, perfect, None, NOTHING_BEFORE)
    assert verdict.blessed
    assert "map" in verdict.reason and "recall_mr_5" not in verdict.reason


@pytest.mark.parametrize("minimums", [None, {"map": 0.5}, {"map": 0.0, "ndcg_5": 0.0}])
@pytest.mark.parametrize("rounding", [0.0, 6e-9, -6e-9])
def test_lists_that_show_nothing_of_a_model_bless_none(minimums, rounding):
    from components.gate import judge

    expected = {"map": 1.0, "ndcg_5": 0.4}
    reached = {key: value + rounding for key, value in expected.items()}
    verdict = judge(reached, expected, reached, minimums, NOTHING_BEFORE)
    assert not verdict.blessed
    assert all(key in verdict.reason for key in minimums or ())
