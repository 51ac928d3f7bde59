"""Clients of a TF Serving, over gRPC and over REST."""

import base64
import json
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final

import grpc
import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from models.exported.model import ExportedModel
from models.exported.signatures import Arrays
from models.http_client import HttpClient
from models.proxies import grpc_proxy, through
from schemas.errors import DataError
from schemas.json_files import parse_json
from schemas.served_versions import MODEL_NAME
from schemas.wording import printable

_SCORING: Final = ("score", "score_with_vectors", "serving_default")
_MAX_BYTES: Final = 1 << 30
"""The largest answer over REST: scores and vectors of a batch of documents are far smaller."""
_CHANNEL: Final = [
    # No limit of size: gRPC's default, 4 MiB, is less than the vectors of a batch of documents.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_reconnect_backoff_ms", 5_000),  # gRPC's default, 120 s, would double the length of an outage
]


class TfServingModel(ExportedModel):
    """An exported model in a TF Serving, over gRPC.

    Args:
      address: host:port of its gRPC API.
      name: the model's name.
      version: the version that every request asks for; None for the newest version that is served now.
      deadline: timeout of a call in seconds.

    Raises:
      DataError: the TF Serving does not answer, or does not serve this model or version.
    """

    def __init__(
        self, address: str, name: str = MODEL_NAME, version: str | None = None, deadline: float = 10.0
    ) -> None:
        self._address, self._name, self._deadline = address, name, deadline
        self._route = through(grpc_proxy(address))
        self._channel = grpc.insecure_channel(address, options=_CHANNEL)
        self._predictions = prediction_service_pb2_grpc.PredictionServiceStub(self._channel)
        models = model_service_pb2_grpc.ModelServiceStub(self._channel)
        request = get_model_status_pb2.GetModelStatusRequest(model_spec=self._spec(version))
        statuses = self._ask(models.GetModelStatus, request, version).model_version_status
        self.version = _newest({status.version: status.State.Name(status.state) for status in statuses}, address, name)
        self.signatures = self._signatures()

    def _call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        """Calls a signature.

        Raises:
          DataError: the TF Serving does not answer in time, no longer serves the version, or refuses the request.
        """
        request = predict_pb2.PredictRequest(
            model_spec=self._spec(self.version, signature),
            inputs={name: tf.make_tensor_proto(array, _dtype(array)) for name, array in inputs.items()},
        )
        response = self._ask(self._predictions.Predict, request)
        outputs = {name: tf.make_ndarray(tensor) for name, tensor in response.outputs.items()}
        return own_columns(signature, inputs, outputs)

    def close(self) -> None:
        self._channel.close()

    def _signatures(self) -> frozenset[str]:
        request = get_model_metadata_pb2.GetModelMetadataRequest(
            model_spec=self._spec(self.version), metadata_field=["signature_def"]
        )
        signatures = get_model_metadata_pb2.SignatureDefMap()
        self._ask(self._predictions.GetModelMetadata, request).metadata["signature_def"].Unpack(signatures)
        # Leaves out TensorFlow's own signature, which initialises the tables.
        return frozenset(name for name in signatures.signature_def if not name.startswith("__"))

    def _spec(self, version: str | None, signature: str = "") -> Any:
        spec = model_pb2.ModelSpec(name=self._name, signature_name=signature)
        if version is not None:
            spec.version.value = int(version)
        return spec

    def _ask(self, method: Any, request: Any, version: str | None = None) -> Any:
        """Calls a method of the API; raises a DataError with the remedy."""
        try:
            return method(request, timeout=self._deadline)
        except grpc.RpcError as error:
            code, details = error.code(), error.details().rstrip(".")
        version = version or getattr(self, "version", None)
        at = f"{self._address}{self._route}"
        server = f"the TF Serving at {at}"
        if code == grpc.StatusCode.UNAVAILABLE:
            raise DataError(f"no TF Serving answers at {at}: {details}. Start it, or name another.")
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            raise DataError(f"{server} did not answer within {self._deadline:g} s.")
        if code == grpc.StatusCode.NOT_FOUND:
            model = f"version {version} of the model" if version else "the model"
            raise DataError(f"{server} must serve {model} {self._name}: {details}.")
        raise DataError(f"{server} refused the request ({code.name}): {details}.")


class TfServingRestModel(ExportedModel):
    """An exported model in a TF Serving, over its REST API, in columnar JSON.

    It lacks the signatures without inputs, such as `channel_weights`: TF Serving's REST API refuses them.

    Args:
      url: address of the server, such as http://localhost:8501.
      name, version, deadline: see `TfServingModel`.

    Raises:
      DataError: the TF Serving does not answer, or does not serve this model or version.
    """

    def __init__(self, url: str, name: str = MODEL_NAME, version: str | None = None, deadline: float = 10.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise DataError(f"the address of a REST API must be http://host:port, or https; got {url!r}.")
        self._url, self._name, self._deadline = url.rstrip("/"), name, deadline
        self._client = HttpClient(self._url)
        model = f"/v1/models/{urllib.parse.quote(name, safe='')}"
        statuses = self._ask(f"{model}/versions/{version}" if version else model)["model_version_status"]
        self.version = _newest({int(status["version"]): status["state"] for status in statuses}, self._url, name)
        self._path = f"{model}/versions/{self.version}"
        signatures = self._ask(f"{self._path}/metadata")["metadata"]["signature_def"]["signature_def"]
        self._outputs = {name: spec["outputs"] for name, spec in signatures.items() if spec["inputs"]}
        self.signatures = frozenset(self._outputs)

    def _call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        """Calls a signature.

        Raises:
          DataError: the TF Serving does not answer in time, no longer serves the version, or refuses the request.
        """
        texts = {name: _as_json(np.asarray(array).tolist()) for name, array in inputs.items()}
        answer = self._ask(f"{self._path}:predict", {"signature_name": signature, "inputs": texts})["outputs"]
        outputs = self._outputs[signature]
        if len(outputs) == 1:  # TF Serving leaves out the name of a single output
            answer = dict.fromkeys(outputs, answer)
        arrays = {name: _as_array(values, outputs[name]["dtype"]) for name, values in answer.items()}
        return own_columns(signature, inputs, arrays)

    def _ask(self, path: str, content: Any = None) -> Any:
        """Returns the JSON at a path, by POST with a content, by GET without."""
        body = None if content is None else json.dumps(content).encode()
        at = f"{self._url}{self._client.route}"
        try:
            answer = self._client.request(path, body, self._deadline, _MAX_BYTES)
            if answer.status == 200 and not answer.is_cut:
                return parse_json(answer.body)
        except TimeoutError:
            raise DataError(f"the TF Serving at {at} did not answer within {self._deadline:g} s.") from None
        except (ConnectionError, ValueError) as error:
            raise DataError(f"no TF Serving answers at {at}: {error}. Start it, or name another.") from None
        details = (
            "its answer is too large"
            if answer.is_cut
            else printable(answer.body.decode("utf-8", "replace").strip(), 1000)
        )
        raise DataError(f"the TF Serving at {at} refused {path} (HTTP {answer.status}): {details}")


def own_columns(signature: str, inputs: Arrays, outputs: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Removes the scores of documents that were not in the request.

    A TF Serving that forms batches pads each list to the longest list of its batch, and also returns the scores of the
    padding.

    Example:
      >>> query, documents, scores = np.array(["q"]), np.array([["d", "e"]]), np.array([[0.5, 0.25, 0.5]])
      >>> own_columns("score", {"query": query, "documents": documents}, {"scores": scores})
      {'scores': array([[0.5 , 0.25]])}
    """
    if signature not in _SCORING:
        return outputs
    size = np.shape(inputs["documents"])[1]
    return {name: scores[:, :size] for name, scores in outputs.items()}


def _newest(states: Mapping[int, str], address: str, model: str) -> str:
    """Returns the newest version in the state AVAILABLE."""
    available = [version for version, state in states.items() if state == "AVAILABLE"]
    if not available:
        described = ", ".join(f"{version} is {state}" for version, state in sorted(states.items()))
        raise DataError(f"the TF Serving at {address} must serve a version of the model {model}; got {described}.")
    return str(max(available))


def _dtype(array: npt.NDArray[Any]) -> tf.DType | None:
    """Returns the type of an input; None lets TensorFlow choose. Empty arrays hold texts, unless they are float32."""
    array = np.asarray(array)
    if array.dtype == np.float32:
        return tf.float32
    return tf.string if array.dtype.kind in "OSU" or not array.size else None


def _as_json(values: Any) -> Any:
    """Returns nested lists of texts, with `bytes` as TF Serving takes them."""
    if isinstance(values, list):
        return [_as_json(value) for value in values]
    return {"b64": base64.b64encode(values).decode()} if isinstance(values, bytes) else values


def _as_array(values: Any, dtype: str) -> npt.NDArray[Any]:
    """Returns values of a TensorFlow type as an array, strings as `bytes`."""
    if dtype != "DT_STRING":
        return np.asarray(values, tf.dtypes.as_dtype(types_pb2.DataType.Value(dtype)).as_numpy_dtype)
    texts = np.asarray(values, object)
    return np.asarray([text.encode() for text in texts.flat], object).reshape(texts.shape)
