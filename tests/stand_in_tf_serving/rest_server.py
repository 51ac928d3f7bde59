"""The stand-in's REST API."""

import base64
import binascii
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import grpc
import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2, predict_pb2

from tests.stand_in_tf_serving.predictor import Predictor, Refusal

ROWS: Final = "instances"
COLUMNS: Final = "inputs"


def fill_request(
    body: bytes, request: predict_pb2.PredictRequest, inputs_of: Callable[[Any], Mapping[str, Any]]
) -> bool:
    """Reads the inputs of a request from JSON.

        {"signature_name": ..., "instances": [{name: value, ...}, ...]}   a row for each of the batch; a bare value
                                                                          where there is one input
        {"signature_name": ..., "inputs": {name: values, ...}}            the values of each input; bare ones likewise

    Args:
      body: UTF-8.
      request: with its model; signature and inputs are filled in.
      inputs_of: returns the inputs (TensorInfos by name) of the signature of a ModelSpec.

    Returns:
      Whether the request is in rows; the answer must be, too.

    Raises:
      Refusal: the JSON is malformed, or does not fit the signature's inputs.
    """
    content = _object(body)
    signature = content.get("signature_name", "")
    if not isinstance(signature, str):
        raise _invalid("'signature_name' key must be a string value.")
    request.model_spec.signature_name = signature
    inputs = inputs_of(request.model_spec)
    if not inputs:
        raise _invalid(f"Failed to get input map for signature: {signature or 'DEFAULT'}")
    if ROWS in content and COLUMNS in content:
        raise _invalid(f"Not formatted correctly expecting only one of '{COLUMNS}' or '{ROWS}' keys to exist")
    if ROWS in content:
        values = _columns_of(content[ROWS], inputs)
    elif COLUMNS in content:
        values = _columns(content[COLUMNS], inputs)
    else:
        raise _invalid(f"Missing '{COLUMNS}' or '{ROWS}' key")
    for name, info in inputs.items():
        request.inputs[name].CopyFrom(_tensor(values[name], info.dtype))
    return ROWS in content


def answer_json(response: predict_pb2.PredictResponse, in_rows: bool) -> dict[str, Any]:
    """The JSON of an answer: an object for several outputs, bare values for one.

    Raises:
      Refusal: rows are asked for, and the outputs have no common number of them.
    """
    outputs = {name: tf.make_ndarray(tensor) for name, tensor in sorted(response.outputs.items())}
    values = {name: _as_json(name, array.tolist()) for name, array in outputs.items()}
    if not in_rows:
        return {"outputs": values if len(values) > 1 else next(iter(values.values()))}
    for name, array in outputs.items():
        if not array.ndim:
            raise _invalid(f"Tensor name: {name} has no shape information")
    sizes = {len(array) for array in outputs.values()}
    if len(sizes) > 1:
        raise _invalid(f"Tensors {', '.join(outputs)} have inconsistent batch sizes: {sorted(sizes)}")
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return {"predictions": rows if len(values) > 1 else [next(iter(row.values())) for row in rows]}


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _invalid(f"JSON Parse error: {error}") from None
    if not isinstance(content, dict):
        raise _invalid(f"JSON Value: {json.dumps(content)} Is not object")
    return content


def _columns_of(rows: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Rows as the values of each input."""
    if not isinstance(rows, list) or not rows:
        raise _invalid(f"Expecting '{ROWS}' to be a list with values")
    if not _is_named(rows[0]):
        if len(inputs) > 1:
            raise _invalid(f"{ROWS} is a plain list, but expecting list of objects as multiple input tensors required")
        if any(map(_is_named, rows)):
            raise _invalid("Expecting value/list but got object in the list")
        return {name: rows for name in inputs}
    for number, row in enumerate(rows):
        if not _is_named(row) or row.keys() != inputs.keys():
            raise _invalid(
                f"Failed to process element: {number} of '{ROWS}' list. JSON object: {json.dumps(row)} keys must be "
                f"equal to: {','.join(sorted(inputs))}"
            )
    return {name: [row[name] for row in rows] for name in inputs}


def _columns(columns: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    if not _is_named(columns):
        if len(inputs) > 1:
            raise _invalid(
                f"{COLUMNS} is a plain value/list, but expecting an object as multiple input tensors required"
            )
        return {name: columns for name in inputs}
    for name in inputs:
        if name not in columns:
            raise _invalid(f"Missing named input: {name} in '{COLUMNS}' object.")
    return dict(columns)


def _is_named(value: Any) -> bool:
    """Whether a value is an object of names, and no binary string."""
    return isinstance(value, dict) and not (value.keys() == {"b64"} and isinstance(value["b64"], str))


def _tensor(values: Any, kind: int) -> Any:
    """Nested lists as a tensor of one of TensorFlow's types."""
    dtype = tf.dtypes.as_dtype(kind)
    shape = _shape(values)
    flat: list[Any] = []
    _fill(values, shape, dtype, flat)
    return tf.make_tensor_proto(np.asarray(flat, dtype.as_numpy_dtype).reshape(shape), dtype, shape)


def _shape(values: Any) -> list[int]:
    """That of the first values."""
    return [len(values), *(_shape(values[0]) if values else [])] if isinstance(values, list) else []


def _fill(values: Any, shape: list[int], dtype: tf.DType, flat: list[Any]) -> None:
    """Appends the values, which must all have the shape of the first ones."""
    if isinstance(values, list) != bool(shape):
        raise _invalid(f"JSON Value: {json.dumps(values)} found at incorrect level")
    if not isinstance(values, list):
        flat.append(_value(values, dtype))
        return
    if len(values) != shape[0]:
        raise _invalid(f"Encountered list at unexpected size: {len(values)} expected size: {shape[0]}")
    for one in values:
        _fill(one, shape[1:], dtype, flat)


def _value(value: Any, dtype: tf.DType) -> Any:
    if dtype == tf.string and isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if dtype == tf.string and isinstance(value, dict):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except (KeyError, TypeError, binascii.Error):
            raise _invalid(f"JSON Value: {json.dumps(value)} not formatted correctly for base64 data") from None
    if dtype != tf.string and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise _invalid(f"JSON Value: {json.dumps(value)} is not of expected type: {dtype.name}")


def _as_json(name: str, value: Any) -> Any:
    """Values as JSON has them; a float32 in no more digits than it takes to read it back."""
    if isinstance(value, list):
        return [_as_json(name, one) for one in value]
    if isinstance(value, bytes):
        # TF Serving recognises binary strings by the output's name alone.
        return (
            {"b64": base64.b64encode(value).decode()} if name.endswith("_bytes") else value.decode("utf-8", "replace")
        )
    return float(str(np.float32(value))) if isinstance(value, float) else value


def _invalid(message: str) -> Refusal:
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, message)


_MODEL: Final = r"(?i)/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d+)|/labels/(?P<label>[^/:]+))?"
_PREDICT: Final = re.compile(rf"{_MODEL}:predict")
_GET: Final = re.compile(rf"{_MODEL}(?P<metadata>/metadata)?")

_STATUS: Final = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}
"""TF Serving's HTTP status for a code; 500 for any other."""


class RestServer(ThreadingHTTPServer):
    """A server at a free port of this machine, with a thread a connection."""

    daemon_threads = True

    def __init__(self, predictor: Predictor) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.predictor = predictor


class _Handler(BaseHTTPRequestHandler):
    server: RestServer
    protocol_version = "HTTP/1.1"
    # Head and body are sent apart: the second would wait 40 ms for the client's word that it has the first.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(_get)

    def do_POST(self) -> None:
        self._answer(_post)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""

    def _answer(self, method: Any) -> None:
        """Sends a method's answer, or its refusal."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urllib.parse.urlsplit(self.path).path
        try:
            status, content = 200, method(self.server.predictor, path, body)
        except Refusal as refusal:
            status, content = _STATUS.get(refusal.code, 500), {"error": str(refusal)}
        answer = json.dumps(content, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def _get(predictor: Predictor, path: str, _body: bytes) -> Any:
    """A model's status, or its metadata."""
    found = _matched(_GET, "GET", path)
    if not found["metadata"]:
        status = predictor.status(get_model_status_pb2.GetModelStatusRequest(model_spec=_spec(found)))
        return json_format.MessageToDict(status, including_default_value_fields=True, preserving_proto_field_name=True)
    request = get_model_metadata_pb2.GetModelMetadataRequest(model_spec=_spec(found), metadata_field=["signature_def"])
    response = predictor.metadata(request)
    signatures = get_model_metadata_pb2.SignatureDefMap()
    response.metadata["signature_def"].Unpack(signatures)
    spec, definitions = (
        json_format.MessageToDict(one, including_default_value_fields=True, preserving_proto_field_name=True)
        for one in (response.model_spec, signatures)
    )
    return {"model_spec": spec, "metadata": {"signature_def": definitions}}


def _post(predictor: Predictor, path: str, body: bytes) -> Any:
    """A prediction."""
    request = predict_pb2.PredictRequest(model_spec=_spec(_matched(_PREDICT, "POST", path)))
    in_rows = fill_request(body, request, predictor.inputs)
    return answer_json(predictor.predict(request), in_rows)


def _matched(pattern: re.Pattern[str], method: str, path: str) -> re.Match[str]:
    found = pattern.fullmatch(path)
    if found is None:
        raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, f"Malformed request: {method} {path}")
    return found


def _spec(found: re.Match[str]) -> model_pb2.ModelSpec:
    spec = model_pb2.ModelSpec(name=urllib.parse.unquote(found["name"]))
    if found["version"]:
        spec.version.value = int(found["version"])
    if found["label"]:
        spec.version_label = urllib.parse.unquote(found["label"])
    return spec
