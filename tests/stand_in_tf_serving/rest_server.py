"""The stand-in's REST API: TF Serving's paths and JSON, for signatures whose inputs are strings and float32."""

import base64
import json
import re
import urllib.parse
from collections.abc import Callable, Collection, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature
from typing import Any, Final

import grpc
import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2, predict_pb2

from tests.stand_in_tf_serving.predictor import Predictor, Refusal, invalid

ROWS: Final = "instances"
COLUMNS: Final = "inputs"
_MODEL: Final = r"(?i)/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d+)|/labels/(?P<label>[^/:]+))?"
_PREDICT: Final = re.compile(rf"{_MODEL}:predict")
_GET: Final = re.compile(rf"{_MODEL}(?P<metadata>/metadata)?")
_STATUS: Final = {grpc.StatusCode.INVALID_ARGUMENT: 400, grpc.StatusCode.NOT_FOUND: 404}
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
    match = _matched(_GET, "GET", path)
    if not match["metadata"]:
        return _as_dict(predictor.status(get_model_status_pb2.GetModelStatusRequest(model_spec=_spec(match))))
    request = get_model_metadata_pb2.GetModelMetadataRequest(model_spec=_spec(match), metadata_field=["signature_def"])
    response = predictor.metadata(request)
    signatures = get_model_metadata_pb2.SignatureDefMap()
    response.metadata["signature_def"].Unpack(signatures)
    return {"model_spec": _as_dict(response.model_spec), "metadata": {"signature_def": _as_dict(signatures)}}


def _post(predictor: Predictor, path: str, body: bytes) -> Any:
    """A prediction."""
    request = predict_pb2.PredictRequest(model_spec=_spec(_matched(_PREDICT, "POST", path)))
    in_rows = fill_request(body, request, predictor.inputs)
    return answer_json(predictor.predict(request), in_rows)


def _matched(pattern: re.Pattern[str], method: str, path: str) -> re.Match[str]:
    match = pattern.fullmatch(path)
    if match is None:
        raise invalid(f"Malformed request: {method} {path}")
    return match


def _spec(match: re.Match[str]) -> model_pb2.ModelSpec:
    spec = model_pb2.ModelSpec(name=urllib.parse.unquote(match["name"]))
    if match["version"]:
        spec.version.value = int(match["version"])
    if match["label"]:
        spec.version_label = urllib.parse.unquote(match["label"])
    return spec


def _as_dict(message: Any) -> Any:
    parameters = signature(json_format.MessageToDict).parameters
    defaults = "always_print_fields_with_no_presence"
    if defaults not in parameters:
        defaults = "including_default_value_fields"  # protobuf 3
    return json_format.MessageToDict(message, preserving_proto_field_name=True, **{defaults: True})


def fill_request(
    body: bytes, request: predict_pb2.PredictRequest, inputs_of: Callable[[Any], Mapping[str, Any]]
) -> bool:
    """Reads the signature and the inputs of a request from JSON.

        {"signature_name": ..., "instances": [{name: value, ...}, ...]}   an object for each row of the batch
        {"signature_name": ..., "inputs": {name: values, ...}}            the values of each input

    TF Serving also takes a single input without its name.

    Returns:
      Whether the request is in rows; the answer must be, too.

    Raises:
      Refusal: the JSON is malformed, or does not fit the signature's inputs.
    """
    try:
        content = json.loads(body)
    except ValueError as error:
        raise invalid(f"JSON Parse error: {error}") from None
    request.model_spec.signature_name = content.get("signature_name", "")
    names = inputs_of(request.model_spec)
    if not names:
        raise invalid(f"Failed to get input map for signature: {content.get('signature_name', 'DEFAULT')}")
    if (ROWS in content) == (COLUMNS in content):
        raise invalid(f"Not formatted correctly expecting only one of '{COLUMNS}' or '{ROWS}' keys to exist")
    columns = _columns_of(content[ROWS], names) if ROWS in content else content[COLUMNS]
    for name in names:
        if name not in columns:
            raise invalid(f"Missing named input: {name} in '{COLUMNS}' object.")
        request.inputs[name].CopyFrom(_tensor(columns[name], tf.dtypes.as_dtype(names[name].dtype)))
    return ROWS in content


def answer_json(response: predict_pb2.PredictResponse, in_rows: bool) -> dict[str, Any]:
    """The JSON of an answer: an object for several outputs, bare values for one.

    Raises:
      Refusal: rows are requested, and the outputs have no common number of them.
    """
    outputs = {name: tf.make_ndarray(tensor) for name, tensor in sorted(response.outputs.items())}
    values = {name: _as_json(array.tolist()) for name, array in outputs.items()}
    if not in_rows:
        return {"outputs": values if len(values) > 1 else next(iter(values.values()))}
    sizes = {len(array) if array.ndim else None for array in outputs.values()}
    if len(sizes) > 1:
        raise invalid(f"Tensors {', '.join(outputs)} have inconsistent batch sizes: {sizes}")
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return {"predictions": rows if len(values) > 1 else [next(iter(row.values())) for row in rows]}


def _columns_of(rows: list[dict[str, Any]], names: Collection[str]) -> dict[str, Any]:
    """Rows as the values of each input."""
    for number, row in enumerate(rows):
        if row.keys() != set(names):
            raise invalid(
                f"Failed to process element: {number} of '{ROWS}' list. JSON object: {json.dumps(row)} keys must be "
                f"equal to: {','.join(sorted(names))}"
            )
    return {name: [row[name] for row in rows] for name in names}


def _tensor(values: Any, dtype: tf.DType) -> Any:
    """Nested lists of texts or numbers as a tensor."""
    shape, flat = [], [values]
    while flat and isinstance(flat[0], list):
        shape.append(len(flat[0]))
        if sizes := {len(values) for values in flat} - {shape[-1]}:
            raise invalid(f"Encountered list at unexpected size: {min(sizes)} expected size: {shape[-1]}")
        flat = [value for values in flat for value in values]
    read, kind = (_text, object) if dtype == tf.string else (_number, dtype.as_numpy_dtype)
    return tf.make_tensor_proto(np.asarray([read(value) for value in flat], kind).reshape(shape), dtype, shape)


def _text(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict):
        return base64.b64decode(value["b64"])
    raise invalid(f"JSON Value: {json.dumps(value)} is not of expected type: string")


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise invalid(f"JSON Value: {json.dumps(value)} is not of expected type: float")


def _as_json(value: Any) -> Any:
    """Values as JSON has them; a float32 in no more digits than it takes to read it back."""
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return float(str(np.float32(value))) if isinstance(value, float) else value
