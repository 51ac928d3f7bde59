"""A pushed version as TF Serving meets it, and the replay of its scores, as far as this goes without TF Serving."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from tests.cli.command import Clir
from tests.e2e.process import ROOT, SampleRun
from tests.e2e.saved_model import both_ways, scores_by_the_c_library, signature_defs
from tests.stand_in_tf_serving.running import StandIn, standing_in

pytestmark = pytest.mark.runs

QUERY, TEXTS = "molten rock flows", ["Un volcan rejette de la lave.", "Une étoile brille.", ""]


# The SavedModel


def test_tensorflow_s_c_library_and_a_v1_session_load_it_and_answer_as_python_does(model_path: str) -> None:
    scores, modules = scores_by_the_c_library(model_path, QUERY, TEXTS)
    score = tf.saved_model.load(model_path).signatures["score"]
    expected = score(query=tf.constant([QUERY]), documents=tf.constant([TEXTS]))["scores"][0]
    np.testing.assert_array_equal(np.float32(scores), expected)
    assert not {"tensorflow", "numpy"} & {module.partition(".")[0] for module in modules}
    answers = both_ways(model_path)
    assert answers.keys() == signature_defs(model_path).keys() >= {"score", "encode_query", "encode_document"}
    for in_session, in_python in answers.values():
        assert in_session.keys() == in_python.keys()
        for name, array in in_python.items():
            np.testing.assert_array_equal(in_session[name], array)


def test_the_pushed_version_is_warmed_up_by_real_queries_none_of_which_is_tested(
    sample_run: SampleRun, model_path: str
) -> None:
    records = tf.data.TFRecordDataset(f"{model_path}/assets.extra/tf_serving_warmup_requests").as_numpy_iterator()
    requests = [prediction_log_pb2.PredictionLog.FromString(record).predict_log.request for record in records]
    assert len(requests) == 32
    requested = {
        query.decode()
        for request in requests
        if "query" in request.inputs
        for query in tf.make_ndarray(request.inputs["query"])
    }
    texts = dict(line.split("\t")[::2] for line in (ROOT / "data/sample/wiki_en.queries").read_text().splitlines())
    evaluated = {line.split()[0] for line in (sample_run.output / "evaluation" / "run.trec").read_text().splitlines()}
    assert evaluated and requested <= {*texts.values()} - {texts[query_id] for query_id in evaluated}


# clir replay


@pytest.fixture(scope="module")
def server(sample_run: SampleRun) -> Iterator[StandIn]:
    """The stand-in in front of the pushed version."""
    (version,) = sample_run.versions
    with standing_in({version.name: version}) as running:
        yield running


@pytest.fixture
def output(sample_run: SampleRun, tmp_path: Path) -> Path:
    """A copy of the run's output that a test may change."""
    folder = tmp_path / "out"
    shutil.copytree(sample_run.output / "evaluation", folder / "evaluation")
    shutil.copy(sample_run.output / "config.yaml", folder)
    (folder / "serving").mkdir()
    for version in sample_run.versions:
        (folder / "serving" / version.name).symlink_to(version)
    return folder


@pytest.mark.parametrize("api", [None, "rest", "grpc"])
def test_served_scores_are_the_evaluator_s(clir: Clir, output: Path, server: StandIn, api: str | None) -> None:
    address = {None: [], "rest": ["--rest", server.rest], "grpc": ["--grpc", server.grpc]}[api]
    done = clir("replay", output, *address, "--json")
    assert (done.code, done.err) == (0, "")
    replayed = json.loads(done.out)
    lines = (output / "evaluation" / "run.trec").read_text().splitlines()
    assert replayed["documents"] == len(lines)
    assert replayed["lists"] == len({line.split()[0] for line in lines})
    assert replayed["largest_difference"] <= 1e-6
    assert replayed["version"] == replayed["pushed_version"] == next((output / "serving").iterdir()).name


def test_a_replay_fails_where_the_order_is_another_and_names_query_and_documents(clir: Clir, output: Path) -> None:
    done = clir("replay", output)
    assert (done.code, done.err, len(done.out.splitlines())) == (0, "", 2)
    run = output / "evaluation" / "run.trec"
    lines = [line.split() for line in run.read_text().splitlines()]
    first, second = lines[:2]
    assert first[0] == second[0]
    first[2], second[2] = second[2], first[2]  # documents change places, scores stay
    run.write_text("".join(" ".join(line) + "\n" for line in lines))
    done = clir("replay", output, "--json")
    assert done.code == 1
    (inversion,) = json.loads(done.out)["inversions"]
    assert inversion["query_id"] == first[0]
    assert (inversion["above"]["doc_id"], inversion["below"]["doc_id"]) == (first[2], second[2])
    assert f"query {first[0]}: " in done.err and first[2] in done.err and second[2] in done.err


def test_a_replay_says_that_another_version_is_asked_or_that_the_gate_refused_the_model(
    clir: Clir, output: Path, server: StandIn
) -> None:
    (version,) = (output / "serving").iterdir()
    version.rename(output / "serving" / f"{version.name}0")
    verdict = json.loads((output / "evaluation" / "verdict.json").read_text())
    (output / "evaluation" / "verdict.json").write_text(json.dumps({**verdict, "blessed": False, "reason": "too bad"}))
    done = clir("replay", output, "--grpc", server.grpc)
    assert done.code == 0
    assert f"version is {version.name}," in done.err and f"{version.name}0" in done.err and "(too bad)" in done.err


def test_a_replay_takes_the_output_of_a_run_with_unchanged_documents_and_a_model_that_can_make_its_second_pass(
    clir: Clir, output: Path, tmp_path: Path
) -> None:
    documents = tmp_path / "changed.documents"
    documents.write_bytes((ROOT / "data/sample/wiki_fr.documents").read_bytes() + b"x\tx\tx\n")
    config, metrics = output / "config.yaml", output / "evaluation" / "metrics.json"
    lines = config.read_text().splitlines()
    changed = [f"  documents: {documents}" if "wiki_fr.documents" in line else line for line in lines]
    assert changed != lines
    config.write_text("\n".join(changed))
    done = clir("replay", output)
    assert (done.code, f"data.documents: {documents}" in done.err) == (1, True)
    config.write_text("\n".join(lines))
    metrics.write_text(json.dumps({**json.loads(metrics.read_text()), "feedback": 4.0}))
    done = clir("replay", output)
    assert (done.code, "must have a channel of words that match" in done.err) == (1, True)
    done = clir("replay", tmp_path)
    assert (done.code, done.out, str(tmp_path) in done.err) == (1, "", True)
    assert clir("replay", tmp_path, "--rest", "http://a", "--grpc", "b").code == 2
