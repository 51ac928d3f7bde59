"""The exported model of a run as others meet it: a SavedModel by its signatures, and `clir rank`."""

import json
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the model holds)

from models.evaluation.relevance_shares import RelevanceShares
from tests.cli.command import Clir
from tests.e2e.process import SAMPLE, SampleRun
from tests.e2e.saved_model import foreign_ops

pytestmark = pytest.mark.runs

DOCUMENTS = SAMPLE / "wiki_fr.documents"
QUERY = "a river of molten rock flows from the crater"
TEXTS = ["Un volcan rejette de la lave en fusion.", "Une planète tourne autour d'une étoile.", "qqqq zzzz"]
TEXT_OPS = {"CaseFoldUTF8", "NormalizeUTF8", "UnicodeScriptTokenizeWithOffsets"}
"""Ops of tensorflow-text that TF Serving's own build links."""
LIMIT = 200
"""Words of a text that count."""


@pytest.fixture(scope="module")
def model(model_path: str) -> Any:
    return tf.saved_model.load(model_path)


def score(model: Any, query: str, documents: list[str]) -> list[float]:
    outputs = model.signatures["score"](query=tf.constant([query]), documents=tf.constant([documents]))
    scores: list[float] = outputs["scores"].numpy()[0].tolist()
    return scores


def test_it_holds_two_embedding_tables_no_optimizer_and_ops_that_tf_serving_links(model_path: str) -> None:
    assert foreign_ops(model_path) <= TEXT_OPS
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
    texts: tuple[list[int | None], str] = ([None], "string")
    vectors: tuple[list[int | None], str] = ([None, 64], "float32")
    scoring = (
        {"query": texts, "documents": ([None, None], "string")},
        {name: ([None, None], "float32") for name in ("scores", "smooth_cosine")},
    )
    words = {"token": texts, "stem": texts, "start": ([None], "int64"), "end": ([None], "int64")}
    none, shares = signatures.pop("relevance")
    assert (none, shares["score"]) == ({}, shares["share"])
    assert shares.keys() == {*RelevanceShares._fields}
    assert signatures == {
        "serving_default": scoring,
        "score": scoring,
        "encode_query": ({"query": texts}, {"vector": vectors}),
        "encode_document": ({"document": texts}, {"vector": vectors}),
        "count_terms": ({"document": texts}, {name: ([None], "int32") for name in ("terms", "unknown")}),
        "channel_weights": ({}, {"smooth_cosine": ([], "float32")}),
        "grade_bands": ({}, {"theta": ([2], "float32")}),
        "explain_words": (
            {"query": ([], "string"), "document": ([], "string")},
            {
                **words,
                "is_scored": ([None], "bool"),
                "dense": ([None], "float32"),
                "without_shares": ([0], "string"),
                **{f"query_{name}": spec for name, spec in words.items()},
            },
        ),
    }


def test_padding_case_punctuation_compatible_characters_and_words_beyond_the_limit_change_no_score(model: Any) -> None:
    first, second, unknown = score(model, QUERY, TEXTS)
    assert unknown == 0 != first != second
    padded = score(model, QUERY, ["", TEXTS[1], "", TEXTS[0], ""])
    np.testing.assert_allclose(padded, [-1, second, -1, first, -1], rtol=0, atol=1e-6)
    plain, changed = score(model, QUERY, ["un volcan rejette de la lave", "«UN» Volcan, rejette—de ｌａ lave!"])
    assert plain == changed != 0
    cut = " ".join(["volcan"] * (LIMIT - 1) + ["lave"])
    whole, longer, replaced = score(model, QUERY, [cut, f"{cut} étoile planète", cut.removesuffix("lave") + "étoile"])
    assert longer == pytest.approx(whole, abs=1e-6)
    assert abs(whole - replaced) > 1e-3


def test_rank_orders_documents_by_the_model_s_scores(clir: Clir, sample_run: SampleRun, model: Any) -> None:
    done = clir("rank", sample_run.output, "--query", QUERY, "--documents", DOCUMENTS, "--top", 156, "--json")
    assert (done.code, done.err) == (0, "")
    rows = [line.split("\t") for line in DOCUMENTS.read_text(encoding="utf-8").splitlines()]
    scores = score(model, QUERY, [text for _, _, text in rows])
    ranked = json.loads(done.out)["documents"]
    assert [document["rank"] for document in ranked] == list(range(1, len(rows) + 1))
    assert [document["score"] for document in ranked] == sorted((hit["score"] for hit in ranked), reverse=True)
    expected = {row[0]: value for row, value in zip(rows, scores, strict=True)}
    assert {document["doc_id"]: document["score"] for document in ranked} == pytest.approx(expected, abs=1e-6)
    assert {document["doc_id"]: document["title"] for document in ranked} == {row[0]: row[1] for row in rows}
