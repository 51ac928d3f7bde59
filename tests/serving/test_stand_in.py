"""The stand-in's REST API: TF Serving's paths, JSON and status codes."""

import json
import urllib.error
import urllib.request
from typing import Any

import numpy as np
import pytest

from models.exported.model import LoadedModel
from tests.stand_in_tf_serving.running import StandIn

pytestmark = pytest.mark.stages

TEXTS = {"query": "DT_STRING", "documents": "DT_STRING"}
ROW = {"query": "white cat", "documents": ["un chat blanc", "chien"]}
PREDICT = "/v1/models/clir:predict"


def ask(stand_in: StandIn, path: str, content: Any = None) -> tuple[int, Any]:
    """Status and JSON of an answer: POST with a content, GET without one."""
    body = None if content is None else json.dumps(content).encode()
    try:
        with urllib.request.urlopen(stand_in.rest + path, body) as answer:
            assert answer.headers["Content-Type"] == "application/json"
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_rows_and_columns_have_the_model_s_scores_and_a_single_output_is_bare(stand_in: StandIn) -> None:
    inputs = {"query": np.array([ROW["query"]] * 2), "documents": np.array([ROW["documents"]] * 2)}
    for path, version in (("", "12"), ("/versions/7", "7")):
        expected = LoadedModel(str(stand_in.versions[version])).call("score", inputs)["scores"]
        url = f"/v1/models/clir{path}:predict"
        rows = ask(stand_in, url, {"signature_name": "score", "instances": [ROW, ROW]})[1]
        columns = ask(stand_in, url, {"inputs": {name: array.tolist() for name, array in inputs.items()}})[1]
        np.testing.assert_array_equal(np.float32([row["scores"] for row in rows["predictions"]]), expected)
        np.testing.assert_array_equal(np.float32(columns["outputs"]["scores"]), expected)
    encoding = {"signature_name": "encode_query", "inputs": {"query": ["cat"]}}
    assert np.shape(ask(stand_in, PREDICT, encoding)[1]["outputs"]) == (1, 2)


def test_status_and_metadata_are_those_of_tf_serving(stand_in: StandIn) -> None:
    def status(version: str) -> dict[str, Any]:
        return {"version": version, "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}

    assert ask(stand_in, "/v1/models/clir") == (200, {"model_version_status": [status("12"), status("7")]})
    assert ask(stand_in, "/v1/models/clir/versions/7") == (200, {"model_version_status": [status("7")]})
    code, content = ask(stand_in, "/v1/models/clir/metadata")
    assert (code, content["model_spec"]) == (200, {"name": "clir", "version": "12", "signature_name": ""})
    score = content["metadata"]["signature_def"]["signature_def"]["score"]
    assert {name: info["dtype"] for name, info in score["inputs"].items()} == TEXTS
    assert [dim["size"] for dim in score["inputs"]["documents"]["tensor_shape"]["dim"]] == ["-1", "-1"]


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("/v1/models/other:predict", {"instances": [ROW]}, 404),
        ("/v1/models/clir/versions/8:predict", {"instances": [ROW]}, 404),
        (PREDICT, {"signature_name": "rank", "instances": [ROW]}, 400),
        (PREDICT, {"instances": [{"query": "a"}]}, 400),
        (PREDICT, {"inputs": {"query": ["a"]}}, 400),
        (PREDICT, {"instances": [ROW, {"query": "a", "documents": ["b"]}]}, 400),
        (PREDICT, {}, 400),
        ("/v1/models/clir:explain", {"instances": [ROW]}, 400),
        ("/", None, 400),
    ],
)
def test_a_refusal_has_tf_serving_s_status_and_an_error(
    stand_in: StandIn, path: str, content: Any, status: int
) -> None:
    code, answer = ask(stand_in, path, content)
    assert (code, answer.keys()) == (status, {"error"})
