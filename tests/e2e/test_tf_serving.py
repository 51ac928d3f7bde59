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
from tests.e2e.stand_in import Server, serve

pytestmark = pytest.mark.stages

QUERY, TEXTS = "molten rock flows", ["Un volcan rejette de la lave.", "Une étoile brille.", ""]


@pytest.fixture(scope="module")
def server(sample_run: SampleRun) -> Iterator[Server]:
    """The stand-in, as a process of its own, in front of the pushed version."""
    with serve(sample_run.output) as server:
        yield server


# The SavedModel


def test_tensorflow_s_c_library_loads_it_and_scores_as_python_does(model_path: str) -> None:
    scores, modules = scores_by_the_c_library(model_path, QUERY, TEXTS)
    score = tf.saved_model.load(model_path).signatures["score"]
    expected = score(query=tf.constant([QUERY]), documents=tf.constant([TEXTS]))["scores"][0]
    np.testing.assert_array_equal(np.float32(scores), expected)
    assert not {"tensorflow", "numpy"} & {module.partition(".")[0] for module in modules}


def test_every_signature_gives_in_a_v1_session_what_it_gives_in_python(model_path: str) -> None:
    found = both_ways(model_path)
    assert found.keys() == signature_defs(model_path).keys() >= {"score", "encode_query", "encode_document"}
    for in_session, in_python in found.values():
        assert in_session.keys() == in_python.keys()
        for name, array in in_python.items():
            np.testing.assert_array_equal(in_session[name], array)


def test_the_pushed_version_is_warmed_up_by_real_queries_that_it_answers(
    sample_run: SampleRun, model_path: str
) -> None:
    records = tf.data.TFRecordDataset(f"{model_path}/assets.extra/tf_serving_warmup_requests").as_numpy_iterator()
    requests = [prediction_log_pb2.PredictionLog.FromString(one).predict_log.request for one in records]
    assert len(requests) == 32
    queries = {line.split("\t")[2] for line in (ROOT / "data/sample/wiki_en.queries").read_text().splitlines()}
    signatures = tf.saved_model.load(model_path).signatures
    for request in requests:
        inputs = {name: tf.constant(tf.make_ndarray(tensor)) for name, tensor in request.inputs.items()}
        outputs = signatures[request.model_spec.signature_name](**inputs)
        assert all(np.isfinite(output).all() for output in outputs.values())
        assert {query.decode() for query in inputs.get("query", tf.constant([])).numpy()} <= queries
    evaluated = {line.split()[0] for line in (sample_run.output / "evaluation" / "run.trec").read_text().splitlines()}
    assert evaluated  # whose queries are the test split's: warm-up asks for none of them
    texts = dict(line.split("\t")[::2] for line in (ROOT / "data/sample/wiki_en.queries").read_text().splitlines())
    asked = {
        query.decode() for one in requests if "query" in one.inputs for query in tf.make_ndarray(one.inputs["query"])
    }
    assert not asked & {texts[query_id] for query_id in evaluated}


# clir replay


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
def test_served_scores_are_the_evaluator_s(clir: Clir, output: Path, server: Server, api: str | None) -> None:
    address = {None: [], "rest": ["--rest", f"http://{server.rest}"], "grpc": ["--grpc", server.grpc]}[api]
    done = clir("replay", output, *address, "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    lines = (output / "evaluation" / "run.trec").read_text().splitlines()
    assert found["documents"] == len(lines)
    assert found["lists"] == len({line.split()[0] for line in lines})
    assert found["largest_difference"] <= 1e-6
    assert found["version"] == found["pushed_version"] == next((output / "serving").iterdir()).name


def test_a_replay_tells_its_result_in_two_lines(clir: Clir, output: Path) -> None:
    done = clir("replay", output)
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert "lists" in first and "largest difference" in first
    assert second == "every list is in the evaluator's order"


def test_a_replay_fails_where_the_order_is_another_and_names_query_and_documents(clir: Clir, output: Path) -> None:
    run = output / "evaluation" / "run.trec"
    lines = [line.split() for line in run.read_text().splitlines()]
    first, second = (lines[place] for place in (0, 1))
    assert first[0] == second[0]
    first[2], second[2] = second[2], first[2]  # documents change places, scores stay
    run.write_text("".join(" ".join(line) + "\n" for line in lines))
    done = clir("replay", output, "--json")
    assert done.code == 1
    (inversion,) = json.loads(done.out)["inversions"]
    assert inversion["query_id"] == first[0]
    assert (inversion["above"]["doc_id"], inversion["below"]["doc_id"]) == (first[2], second[2])
    assert f"query {first[0]}: the evaluator has document {first[2]} ({first[4]}) above {second[2]}" in done.err
    assert "1 of " in done.err and "Traceback" not in done.err


def test_a_replay_says_that_another_version_is_asked_or_that_the_gate_refused_the_model(
    clir: Clir, output: Path, server: Server
) -> None:
    (version,) = (output / "serving").iterdir()
    version.rename(output / "serving" / f"{version.name}0")
    verdict = json.loads((output / "evaluation" / "verdict.json").read_text())
    (output / "evaluation" / "verdict.json").write_text(json.dumps({**verdict, "blessed": False, "reason": "too bad"}))
    done = clir("replay", output, "--grpc", server.grpc)
    assert done.code == 0
    assert f"version {version.name} is asked, but the newest in {version.parent} is {version.name}0" in done.err
    assert "the gate refused the evaluated model (too bad): what is served is another" in done.err


def test_a_replay_takes_no_scores_of_a_second_pass(clir: Clir, output: Path) -> None:
    metrics = output / "evaluation" / "metrics.json"
    metrics.write_text(json.dumps({**json.loads(metrics.read_text()), "feedback": 4.0}))
    done = clir("replay", output)
    assert (done.code, done.out) == (1, "")
    assert "must hold the model's own scores; it holds those of a second pass (evaluation.feedback 4)" in done.err


def test_a_replay_takes_no_documents_that_have_changed(clir: Clir, output: Path, tmp_path: Path) -> None:
    config = output / "config.yaml"
    documents = tmp_path / "changed.documents"
    documents.write_bytes((ROOT / "data/sample/wiki_fr.documents").read_bytes() + b"x\tx\tx\n")
    lines = config.read_text().splitlines()
    changed = [f"  documents: {documents}" if line.startswith("  documents: ") else line for line in lines]
    assert changed != lines
    config.write_text("\n".join(changed))
    done = clir("replay", output)
    assert done.code == 1
    assert f"data.documents: {documents} must be as it was" in done.err


def test_a_replay_needs_a_run_s_output_and_one_address(clir: Clir, tmp_path: Path) -> None:
    done = clir("replay", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert f"{tmp_path} must be a run's output folder" in done.err
    assert clir("replay", tmp_path, "--rest", "http://a", "--grpc", "b").code == 2
