"""The stand-in's REST API: TF Serving's paths, JSON, status codes and errors."""

import base64
import json
import urllib.error
import urllib.request
from typing import Any

import grpc
import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import predict_pb2

from models.exported.model import LoadedModel
from tests.stand_in_tf_serving.predictor import Refusal
from tests.stand_in_tf_serving.rest_server import answer_json, fill_request
from tests.stand_in_tf_serving.running import StandIn

pytestmark = pytest.mark.tensors

SCORE = {"query": "DT_STRING", "documents": "DT_STRING"}
ENCODE = {"query": "DT_STRING"}
ROW = {"query": "white cat", "documents": ["un chat blanc", "chien"]}


def read(content: Any, inputs: dict[str, str] = SCORE) -> tuple[dict[str, Any], bool]:
    """The inputs of a request, and whether it is in rows."""
    infos = {name: text_format.Parse(f"dtype: {dtype}", meta_graph_pb2.TensorInfo()) for name, dtype in inputs.items()}
    request = predict_pb2.PredictRequest()
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    in_rows = fill_request(body, request, lambda _spec: infos)
    return {name: tf.make_ndarray(tensor).tolist() for name, tensor in request.inputs.items()}, in_rows


def answer(in_rows: bool, **outputs: Any) -> Any:
    response = predict_pb2.PredictResponse()
    for name, array in outputs.items():
        response.outputs[name].CopyFrom(tf.make_tensor_proto(array))
    return answer_json(response, in_rows)


def test_rows_and_columns_are_objects_and_bare_where_there_is_one_input() -> None:
    rows = [{"query": "a", "documents": ["b", "c"]}, {"query": "d", "documents": ["é", ""]}]
    expected = {"query": [b"a", b"d"], "documents": [[b"b", b"c"], ["é".encode(), b""]]}
    assert read({"instances": rows}) == (expected, True)
    columns = {"query": ["a", "d"], "documents": [["b", "c"], ["é", ""]]}
    assert read({"inputs": columns}) == (expected, False)
    binary = {"b64": base64.b64encode(b"a").decode()}
    for bare in (["a"], [{"query": "a"}], [binary]):
        assert read({"instances": bare}, ENCODE) == ({"query": [b"a"]}, True)
    for bare in (["a"], {"query": ["a"]}, [binary]):
        assert read({"inputs": bare}, ENCODE) == ({"query": [b"a"]}, False)


@pytest.mark.parametrize(
    ("content", "inputs", "reported"),
    [
        (b"{", SCORE, "JSON Parse error"),
        ([], SCORE, "Is not object"),
        ({}, SCORE, "Missing 'inputs' or 'instances' key"),
        ({"instances": ["a"], "inputs": ["a"]}, ENCODE, "only one of 'inputs' or 'instances'"),
        ({"instances": []}, ENCODE, "'instances'"),
        ({"instances": [{"query": "a"}]}, SCORE, "documents,query"),
        ({"instances": [ROW, {"query": "a", "documents": ["b"]}]}, SCORE, "size: 1 expected size: 2"),
        ({"inputs": {"query": ["a"]}}, SCORE, "documents in 'inputs'"),
        ({"inputs": [1]}, ENCODE, "expected type: string"),
        ({"inputs": {}}, {}, "signature: DEFAULT"),
    ],
)
def test_any_other_request_is_refused_with_its_reason(content: Any, inputs: dict[str, str], reported: str) -> None:
    with pytest.raises(Refusal, match=reported) as refusal:
        read(content, inputs)
    assert refusal.value.code == grpc.StatusCode.INVALID_ARGUMENT


def test_several_outputs_are_objects_and_one_is_bare() -> None:
    a, b = np.float32([[0.1], [0.25]]), np.array([b"x", b"\xc3\xa9"], object)
    assert answer(True, a=a, b=b) == {"predictions": [{"a": [0.1], "b": "x"}, {"a": [0.25], "b": "é"}]}
    assert answer(False, a=a, b=b) == {"outputs": {"a": [[0.1], [0.25]], "b": ["x", "é"]}}
    assert answer(True, a=a) == {"predictions": [[0.1], [0.25]]}
    with pytest.raises(Refusal, match="batch sizes"):
        answer(True, a=[1.0], b=[1.0, 2.0])


# With models


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


@pytest.mark.stages
def test_rows_and_columns_have_the_model_s_scores(stand_in: StandIn) -> None:
    inputs = {"query": np.array([ROW["query"]] * 2), "documents": np.array([ROW["documents"]] * 2)}
    for path, version in (("", "12"), ("/versions/7", "7")):
        expected = LoadedModel(str(stand_in.versions[version])).call("score", inputs)["scores"]
        url = f"/v1/models/clir{path}:predict"
        rows = ask(stand_in, url, {"signature_name": "score", "instances": [ROW, ROW]})[1]
        columns = ask(stand_in, url, {"inputs": {name: array.tolist() for name, array in inputs.items()}})[1]
        np.testing.assert_array_equal(np.float32([row["scores"] for row in rows["predictions"]]), expected)
        np.testing.assert_array_equal(np.float32(columns["outputs"]["scores"]), expected)


@pytest.mark.stages
def test_status_and_metadata_are_those_of_tf_serving(stand_in: StandIn) -> None:
    def status(version: str) -> dict[str, Any]:
        return {"version": version, "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}

    assert ask(stand_in, "/v1/models/clir") == (200, {"model_version_status": [status("12"), status("7")]})
    assert ask(stand_in, "/v1/models/clir/versions/7") == (200, {"model_version_status": [status("7")]})
    code, content = ask(stand_in, "/v1/models/clir/metadata")
    assert (code, content["model_spec"]) == (200, {"name": "clir", "version": "12", "signature_name": ""})
    score = content["metadata"]["signature_def"]["signature_def"]["score"]
    assert {name: info["dtype"] for name, info in score["inputs"].items()} == SCORE
    assert [dim["size"] for dim in score["inputs"]["documents"]["tensor_shape"]["dim"]] == ["-1", "-1"]


@pytest.mark.stages
@pytest.mark.parametrize(
    ("path", "content", "status", "reported"),
    [
        ("/v1/models/other:predict", {"instances": [ROW]}, 404, "Latest(other)"),
        ("/v1/models/clir/versions/8:predict", {"instances": [ROW]}, 404, "Specific(clir, 8)"),
        ("/v1/models/clir/labels/stable:predict", {"instances": [ROW]}, 400, "version label"),
        ("/v1/models/clir:predict", {"signature_name": "rank", "instances": [ROW]}, 400, '"rank" not found'),
        ("/v1/models/clir:explain", {"instances": [ROW]}, 400, "Malformed request: POST /v1/models/clir:explain"),
        ("/v1/models/other", None, 404, "any versions of model other"),
        ("/", None, 400, "Malformed request: GET /"),
    ],
)
def test_a_refusal_has_tf_serving_s_status_and_an_error(
    stand_in: StandIn, path: str, content: Any, status: int, reported: str
) -> None:
    code, answer = ask(stand_in, path, content)
    assert (code, answer.keys()) == (status, {"error"})
    assert reported in answer["error"]
