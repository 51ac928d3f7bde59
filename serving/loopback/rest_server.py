"""The stand-in's REST API."""

import json
import re
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import grpc
from google.protobuf import json_format
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2, predict_pb2

from serving.loopback.predict_json import answer_json, fill_request
from serving.loopback.predictor import Predictor
from serving.loopback.refusal import Refusal

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
    """Serves on a thread a connection; `serve_forever` runs it, `shutdown` ends it.

    Args:
      predictor: answers.
      address: (host, port); port 0 for any that is free.
    """

    daemon_threads = True

    def __init__(self, predictor: Predictor, address: tuple[str, int]) -> None:
        super().__init__(address, _Handler)
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
        """Says nothing: clients are told what is wrong."""

    def _answer(self, method: Any) -> None:
        """Sends what a method says, or its refusal."""
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
