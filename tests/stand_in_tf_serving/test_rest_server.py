"""The REST API of the stand-in: TF Serving's paths, JSON, status codes and errors."""

import json
import urllib.error
import urllib.request
from typing import Any

import numpy as np
import pytest

from serving.served_model import LocalModel
from tests.serving.conftest import Loopback

pytestmark = pytest.mark.serving

ROW = {"query": "white cat", "documents": ["un chat blanc", "chien"]}


def ask(loopback: Loopback, path: str, content: Any = None) -> tuple[int, Any]:
    """Status and JSON of an answer: POST with a content, GET without one."""
    body = None if content is None else json.dumps(content).encode()
    try:
        with urllib.request.urlopen(loopback.rest + path, body) as answer:
            assert answer.headers["Content-Type"] == "application/json"
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_rows_and_columns_have_the_model_s_scores(loopback: Loopback) -> None:
    inputs = {"query": np.array([ROW["query"]] * 2), "documents": np.array([ROW["documents"]] * 2)}
    expected = LocalModel(str(loopback.versions["12"])).call("score", inputs)["scores"]
    rows = ask(loopback, "/v1/models/clir:predict", {"signature_name": "score", "instances": [ROW, ROW]})[1]
    columns = {name: array.tolist() for name, array in inputs.items()}
    found = ask(loopback, "/v1/models/clir:predict", {"inputs": columns})[1]
    np.testing.assert_array_equal(np.float32([row["scores"] for row in rows["predictions"]]), expected)
    np.testing.assert_array_equal(np.float32(found["outputs"]["scores"]), expected)


def test_one_output_is_bare(loopback: Loopback) -> None:
    content = {"signature_name": "encode_query", "instances": ["white cat", "dog"]}
    vectors = ask(loopback, "/v1/models/clir:predict", content)[1]["predictions"]
    assert np.shape(vectors) == (2, 2)


def test_a_version_may_be_named_in_the_path(loopback: Loopback) -> None:
    answers = [
        ask(loopback, f"/v1/models/clir{version}:predict", {"instances": [ROW]})
        for version in ("", "/versions/12", "/versions/7")
    ]
    assert [status for status, _ in answers] == [200] * 3
    assert answers[0] == answers[1] != answers[2]


def test_the_status_is_that_of_all_versions_or_of_one(loopback: Loopback) -> None:
    def status(version: str) -> dict[str, Any]:
        return {"version": version, "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}

    assert ask(loopback, "/v1/models/clir") == (200, {"model_version_status": [status("12"), status("7")]})
    assert ask(loopback, "/v1/models/clir/versions/7") == (200, {"model_version_status": [status("7")]})


def test_the_metadata_have_the_signatures(loopback: Loopback) -> None:
    status, content = ask(loopback, "/v1/models/clir/metadata")
    assert (status, content["model_spec"]) == (200, {"name": "clir", "version": "12", "signature_name": ""})
    score = content["metadata"]["signature_def"]["signature_def"]["score"]
    assert {name: one["dtype"] for name, one in score["inputs"].items()} == {
        "query": "DT_STRING",
        "documents": "DT_STRING",
    }
    assert [one["size"] for one in score["inputs"]["documents"]["tensor_shape"]["dim"]] == ["-1", "-1"]


@pytest.mark.parametrize(
    ("path", "content", "status", "message"),
    [
        ("/v1/models/other:predict", {"instances": [ROW]}, 404, "Servable not found for request: Latest(other)"),
        ("/v1/models/clir/versions/8:predict", {"instances": [ROW]}, 404, "Specific(clir, 8)"),
        ("/v1/models/clir/labels/stable:predict", {"instances": [ROW]}, 400, "Unrecognized servable version label"),
        ("/v1/models/clir:predict", {"instances": []}, 400, "'instances' to be a list"),
        ("/v1/models/clir:predict", {"signature_name": "rank", "instances": [ROW]}, 400, '"rank" not found'),
        (
            "/v1/models/clir:predict",
            {"signature_name": "channel_weights", "inputs": {}},
            400,
            "Failed to get input map",
        ),
        ("/v1/models/clir:explain", {"instances": [ROW]}, 400, "Malformed request: POST /v1/models/clir:explain"),
        ("/v1/models/other", None, 404, "Could not find any versions of model other"),
        ("/v1/models/clir/versions/8", None, 404, "version 8"),
        ("/", None, 400, "Malformed request: GET /"),
    ],
)
def test_a_refusal_has_tf_serving_s_status_and_an_error(
    loopback: Loopback, path: str, content: Any, status: int, message: str
) -> None:
    code, answer = ask(loopback, path, content)
    assert (code, answer.keys()) == (status, {"error"})
    assert message in answer["error"]
