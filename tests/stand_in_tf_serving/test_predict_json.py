"""TF Serving's JSON: what it takes for a request, and what an answer looks like."""

import base64
import json
from typing import Any

import grpc
import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import predict_pb2

from tests.stand_in_tf_serving.predictor import Refusal
from tests.stand_in_tf_serving.rest_server import answer_json, fill_request

SCORE = {"query": "DT_STRING", "documents": "DT_STRING"}
ENCODE = {"query": "DT_STRING"}
NUMBERS = {"x": "DT_FLOAT"}


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


# Requests


def test_rows_are_objects_of_each_inputs_value() -> None:
    rows = [{"query": "a", "documents": ["b", "c"]}, {"query": "d", "documents": ["é", ""]}]
    expected = {"query": [b"a", b"d"], "documents": [[b"b", b"c"], ["é".encode(), b""]]}
    assert read({"instances": rows}) == (expected, True)


def test_columns_are_an_object_of_each_inputs_values() -> None:
    columns = {"query": ["a"], "documents": [["b", "c"]]}
    assert read({"inputs": columns}) == ({"query": [b"a"], "documents": [[b"b", b"c"]]}, False)
    assert read({"inputs": {"query": "a", "documents": "b"}}) == ({"query": b"a", "documents": b"b"}, False)


@pytest.mark.parametrize("content", [{"instances": ["a", "b"]}, {"instances": [{"query": "a"}, {"query": "b"}]}])
def test_a_single_input_s_rows_may_be_bare(content: Any) -> None:
    assert read(content, ENCODE) == ({"query": [b"a", b"b"]}, True)


@pytest.mark.parametrize("content", [{"inputs": ["a", "b"]}, {"inputs": {"query": ["a", "b"]}}])
def test_a_single_input_s_columns_may_be_bare(content: Any) -> None:
    assert read(content, ENCODE) == ({"query": [b"a", b"b"]}, False)


@given(st.binary(max_size=5))
def test_a_binary_string_is_an_object_with_b64(content: bytes) -> None:
    encoded = {"b64": base64.b64encode(content).decode()}
    assert read({"instances": [encoded]}, ENCODE) == ({"query": [content]}, True)
    assert read({"inputs": encoded}, ENCODE) == ({"query": content}, False)


def test_numbers_are_numbers() -> None:
    assert read({"instances": [1, 0.5]}, NUMBERS) == ({"x": [1.0, 0.5]}, True)


@pytest.mark.parametrize(
    ("content", "inputs", "message"),
    [
        (b"", SCORE, "JSON Parse error"),
        (b"{", SCORE, "JSON Parse error"),
        (b"[" * 10**5, SCORE, "JSON Parse error"),
        ([], SCORE, "Is not object"),
        ({}, SCORE, "Missing 'inputs' or 'instances' key"),
        ({"instances": ["a"], "inputs": ["a"]}, ENCODE, "only one of 'inputs' or 'instances'"),
        ({"signature_name": 3, "instances": ["a"]}, ENCODE, "'signature_name' key must be a string value"),
        ({"instances": "a"}, ENCODE, "Expecting 'instances' to be a list"),
        ({"instances": []}, ENCODE, "Expecting 'instances' to be a list with values"),
        ({"instances": ["a"]}, SCORE, "instances is a plain list, but expecting list of objects"),
        ({"instances": ["a", {"query": "b"}]}, ENCODE, "Expecting value/list but got object"),
        ({"instances": [{"query": "a"}]}, SCORE, "keys must be equal to: documents,query"),
        (
            {"instances": [{"query": "a", "documents": ["b"]}, {"query": "a"}]},
            SCORE,
            "process element: 1 of 'instances'",
        ),
        (
            {"instances": [{"query": "a", "documents": ["b"]}, {"query": "a", "documents": ["b", "c"]}]},
            SCORE,
            "list at unexpected size: 2 expected size: 1",
        ),
        ({"inputs": ["a"]}, SCORE, "inputs is a plain value/list, but expecting an object"),
        ({"inputs": {"query": ["a"]}}, SCORE, "Missing named input: documents in 'inputs' object"),
        ({"inputs": ["a", ["b"]]}, ENCODE, "found at incorrect level"),
        ({"inputs": [1]}, ENCODE, "is not of expected type: string"),
        ({"inputs": [{"b64": "?"}]}, ENCODE, "not formatted correctly for base64 data"),
        ({"inputs": ["a"]}, NUMBERS, "is not of expected type: float32"),
        ({"inputs": {}}, {}, "Failed to get input map for signature: DEFAULT"),
    ],
)
def test_any_other_request_is_refused_with_its_reason(content: Any, inputs: dict[str, str], message: str) -> None:
    with pytest.raises(Refusal, match=message) as refusal:
        read(content, inputs)
    assert refusal.value.code == grpc.StatusCode.INVALID_ARGUMENT


# Answers


def test_several_outputs_are_objects_and_one_is_bare() -> None:
    a, b = np.float32([[0.5], [0.25]]), np.array([b"x", b"y"], object)
    assert answer(True, a=a, b=b) == {"predictions": [{"a": [0.5], "b": "x"}, {"a": [0.25], "b": "y"}]}
    assert answer(False, a=a, b=b) == {"outputs": {"a": [[0.5], [0.25]], "b": ["x", "y"]}}
    assert answer(True, a=a) == {"predictions": [[0.5], [0.25]]}
    assert answer(False, a=a) == {"outputs": [[0.5], [0.25]]}


def test_strings_are_texts_unless_their_name_ends_in_bytes() -> None:
    assert answer(False, a=b"\xc3\xa9", a_bytes=b"\xff") == {"outputs": {"a": "é", "a_bytes": {"b64": "/w=="}}}


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_reads_back_the_same(value: float) -> None:
    text = json.dumps(answer(False, a=np.float32([value])))
    assert np.float32(json.loads(text)["outputs"][0]) == np.float32(value)


@pytest.mark.parametrize("outputs", [{"a": 1.0}, {"a": [1.0], "b": [1.0, 2.0]}])
def test_outputs_without_a_common_number_of_rows_cannot_be_had_in_rows(outputs: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        answer(True, **outputs)
