"""The exported model as others meet it: a SavedModel in a plain TensorFlow process, and `clir rank`."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the model holds)

from models.evaluation.relevance_shares import RelevanceShares
from tests.cli.command import Clir
from tests.e2e.process import SAMPLE, SampleRun, fresh
from tests.models.loaded_once import loaded_once

pytestmark = pytest.mark.stages

DOCUMENTS = SAMPLE / "wiki_fr.documents"
QUERIES = ["a river of molten rock flows from the crater", "planets orbit the star", "zzz unheard of qqq"]
TEXTS = ["Un volcan rejette de la lave en fusion.", "Une planète tourne autour d'une étoile.", "mot zzzz"]
TEXT_OPS = {"CaseFoldUTF8", "NormalizeUTF8", "UnicodeScriptTokenizeWithOffsets"}
"""Ops of tensorflow-text that TF Serving's own build links."""

PLAIN_PROCESS = """
import json, sys
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import op_def_registry

path, queries, texts = json.loads(sys.argv[1])
with open(f"{path}/saved_model.pb", "rb") as file:
    (graph,) = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs
functions = graph.graph_def.library.function
ops = {node.op for nodes in (graph.graph_def.node, *(f.node_def for f in functions)) for node in nodes}
others = sorted(op for op in ops if op_def_registry.get(op) is None)

import tensorflow_text

score = tf.saved_model.load(path).signatures["score"]
scores = score(query=tf.constant(queries), documents=tf.constant([texts] * len(queries)))["scores"]
print(json.dumps({"ops": len(ops), "others": others, "scores": scores.numpy().tolist(), "modules": list(sys.modules)}))
"""


@pytest.fixture(scope="module")
def model(model_path: str) -> Any:
    return tf.saved_model.load(model_path)


@pytest.fixture(scope="module")
def plain_process(model_path: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The model as a process sees it that imports only tensorflow, then tensorflow_text."""
    done = subprocess.run(
        [sys.executable, "-c", PLAIN_PROCESS, json.dumps([model_path, QUERIES, TEXTS])],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def score(model: Any, queries: list[str], documents: list[list[str]]) -> np.ndarray:
    shape = (len(queries), len(documents[0]) if documents else 0)
    texts = tf.reshape(tf.constant(documents, tf.string), shape)
    return model.signatures["score"](query=tf.constant(queries, tf.string), documents=texts)["scores"].numpy()


# The SavedModel


def test_the_model_scores_in_a_process_that_knows_only_tensorflow_and_its_text_ops(
    model: Any, plain_process: dict[str, Any]
) -> None:
    rooms = {"schemas", "models", "components", "pipeline", "tfx", "tensorflow_transform", "tensorflow_ranking"}
    assert not rooms & set(plain_process["modules"])
    np.testing.assert_array_equal(plain_process["scores"], score(model, QUERIES, [TEXTS] * len(QUERIES)))


def test_every_op_is_tensorflow_s_own_or_a_text_op_that_tf_serving_links(plain_process: dict[str, Any]) -> None:
    assert plain_process["ops"] > 10
    assert set(plain_process["others"]) <= TEXT_OPS


def test_the_checkpoint_holds_the_two_embedding_tables_and_nothing_of_an_optimizer(model_path: str) -> None:
    variables = dict(tf.train.list_variables(f"{model_path}/variables/variables"))
    assert variables.pop("_CHECKPOINTABLE_OBJECT_GRAPH") == []
    assert {name.split("/")[0] for name in variables} == {"weights"}
    assert [shape[1] for shape in variables.values()] == [64, 64]


def test_the_signatures_take_plain_strings_and_give_floats(model: Any) -> None:
    def tensors(specs: dict[str, Any]) -> dict[str, tuple[list[int | None], str]]:
        return {key: (spec.shape.as_list(), spec.dtype.name) for key, spec in specs.items()}

    signatures = {
        name: (tensors(function.structured_input_signature[1]), tensors(function.structured_outputs))
        for name, function in model.signatures.items()
    }
    scoring = (
        {"query": ([None], "string"), "documents": ([None, None], "string")},
        {name: ([None, None], "float32") for name in ("scores", "smooth_cosine")},
    )
    words: dict[str, tuple[list[int | None], str]] = {"token": ([None], "string"), "stem": ([None], "string")}
    places: dict[str, tuple[list[int | None], str]] = {"start": ([None], "int64"), "end": ([None], "int64")}
    none, shares = signatures.pop("relevance")
    assert (none, shares["score"]) == ({}, shares["share"])
    assert shares.keys() == {*RelevanceShares._fields}
    assert signatures == {
        "serving_default": scoring,
        "score": scoring,
        "encode_query": ({"query": ([None], "string")}, {"vector": ([None, 64], "float32")}),
        "encode_document": ({"document": ([None], "string")}, {"vector": ([None, 64], "float32")}),
        "count_terms": ({"document": ([None], "string")}, {name: ([None], "int32") for name in ("terms", "unknown")}),
        "channel_weights": ({}, {"smooth_cosine": ([], "float32")}),
        "grade_bands": ({}, {"theta": ([2], "float32")}),
        "explain_words": (
            {"query": ([], "string"), "document": ([], "string")},
            {
                **words,
                **places,
                "is_scored": ([None], "bool"),
                "dense": ([None], "float32"),
                "without_shares": ([0], "string"),
                **{f"query_{name}": one for name, one in {**words, **places}.items()},
            },
        ),
    }


def test_serving_default_is_score(model: Any) -> None:
    query, documents = tf.constant(QUERIES[:1]), tf.constant([TEXTS])
    default = model.signatures["serving_default"](query=query, documents=documents)["scores"]
    np.testing.assert_array_equal(default, score(model, QUERIES[:1], [TEXTS]))


def test_a_score_is_the_inner_product_of_the_encodings(model: Any) -> None:
    queries = model.signatures["encode_query"](query=tf.constant(QUERIES))["vector"].numpy()
    documents = model.signatures["encode_document"](document=tf.constant(TEXTS))["vector"].numpy()
    scores = score(model, QUERIES, [TEXTS] * len(QUERIES))
    np.testing.assert_allclose(scores, queries @ documents.T, rtol=0, atol=1e-6)
    assert np.abs(scores).max() <= 1
    assert len(np.unique(scores)) > 4


def test_padding_scores_minus_one_and_changes_no_other_score(model: Any) -> None:
    padded = score(model, QUERIES[:2], [[*TEXTS, "", ""], ["", TEXTS[1], "", TEXTS[0], ""]])
    alone = score(model, QUERIES[:2], [TEXTS, TEXTS])
    np.testing.assert_allclose(padded[0], [*alone[0], -1, -1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(padded[1], [-1, alone[1, 1], -1, alone[1, 0], -1], rtol=0, atol=1e-6)


def test_lists_and_batches_may_be_empty(model: Any) -> None:
    assert score(model, QUERIES[:1], [[""]]).tolist() == [[-1]]
    assert score(model, QUERIES[:1], [[]]).shape == (1, 0)
    assert score(model, [], []).shape == (0, 0)


def test_texts_without_a_known_word_score_zero(model: Any) -> None:
    assert score(model, ["zzzz qqqq", "", "!?"], [["qqqq"], [TEXTS[0]], [TEXTS[0]]]).tolist() == [[0], [0], [0]]


def test_case_punctuation_and_compatible_characters_do_not_change_a_score(model: Any) -> None:
    (plain, changed), (expected, _) = score(
        model, [QUERIES[0]] * 2, [["un volcan rejette de la lave", "«UN» Volcan, rejette—de ｌａ lave!"]] * 2
    )
    assert plain == changed == expected != 0


def test_words_beyond_the_limit_do_not_change_a_score(model: Any) -> None:
    limit = 200
    cut = " ".join(["volcan"] * (limit - 1) + ["lave"])
    same, other = score(model, QUERIES[:1], [[f"{cut} étoile planète", cut.removesuffix("lave") + "étoile"]])[0]
    assert same == pytest.approx(score(model, QUERIES[:1], [[cut]])[0, 0], abs=1e-6)
    assert abs(same - other) > 1e-3


# clir rank


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


def test_rank_orders_documents_by_the_model_s_scores(sample_run: SampleRun, model: Any) -> None:
    done = fresh("rank", sample_run.output, "--query", QUERIES[0], "--documents", DOCUMENTS, "--top", 156, "--json")
    assert (done.code, done.err) == (0, "")
    rows = [line.split("\t") for line in DOCUMENTS.read_text(encoding="utf-8").splitlines()]
    scores = score(model, QUERIES[:1], [[text for _, _, text in rows]])[0]
    answer = json.loads(done.out)
    assert answer["query"] == QUERIES[0]
    ranked = answer["documents"]
    assert [one["rank"] for one in ranked] == list(range(1, len(rows) + 1))
    assert [one["score"] for one in ranked] == sorted((one["score"] for one in ranked), reverse=True)
    found = {one["doc_id"]: one["score"] for one in ranked}
    assert found == pytest.approx({row[0]: value for row, value in zip(rows, scores, strict=True)}, abs=1e-6)
    assert {one["doc_id"]: one["title"] for one in ranked} == {row[0]: row[1] for row in rows}


def test_rank_with_a_file_without_documents_exits_1(clir: Clir, model_path: str, tmp_path: Path) -> None:
    done = clir("rank", model_path, "--query", QUERIES[0], "--documents", tmp_path / "missing")
    assert done == (1, "", f"clir: documents: {tmp_path / 'missing'}: No such file or directory.\n")


def test_rank_refuses_a_query_that_is_not_utf8(clir: Clir, model_path: str) -> None:
    done = clir("rank", model_path, "--documents", DOCUMENTS, stdin=b"planets\ncaf\xe9\n")
    assert done.code == 1
    assert "UTF-8" in done.err


def test_rank_shows_no_control_sequence_of_a_document_s_and_no_endless_title(clir: Clir, model_path: str) -> None:
    stdin = f"d\x1b[2J1\tVolcan\x1b]0;mine\x07{'n' * 10**5}\t{TEXTS[0]}\n"
    done = clir("rank", model_path, "--query", QUERIES[0], "--documents", "-", stdin=stdin)
    assert done.code == 0
    head, text = done.out.splitlines()
    assert (head + text).isprintable()
    assert len(done.out) < 500
    answer = json.loads(clir("rank", model_path, "--query", QUERIES[0], "--documents", "-", "--json", stdin=stdin).out)
    assert answer["documents"][0]["doc_id"] == "d\x1b[2J1"
