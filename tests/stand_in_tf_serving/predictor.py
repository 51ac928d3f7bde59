"""The answers of both APIs, as TF Serving's messages."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import grpc
import tensorflow as tf
from google.protobuf import any_pb2
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_pb2,
    predict_pb2,
)

from models.exported.model import ExportedModel, LoadedModel
from schemas.served_versions import MODEL_NAME

_DEFAULT_SIGNATURE: Final = "serving_default"
_METADATA: Final = "signature_def"
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
"""TensorFlow's error codes are gRPC's."""


class Refusal(Exception):
    """A request that is refused, as TF Serving refuses it.

    Args:
      code: gRPC's code, from which the REST API's follows.
      message: the reason.
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> Refusal:
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, message)


class _Version(NamedTuple):
    """A version that is served."""

    model: ExportedModel
    signatures: Mapping[str, Any]
    """SignatureDefs by name."""


class Predictor:
    """Answers as TF Serving would with these versions of one model.

    Args:
      versions: folders of pushed versions; their names are the versions' numbers.
    """

    def __init__(self, versions: Sequence[str]) -> None:
        self._versions = {int(path.rstrip("/").rpartition("/")[2]): _load(path) for path in versions}

    def predict(self, request: predict_pb2.PredictRequest) -> predict_pb2.PredictResponse:
        """The outputs of a signature.

        Raises:
          Refusal: there is no such model, version or signature, or the inputs do not fit it.
        """
        number, version = self._find(request.model_spec)
        signature = request.model_spec.signature_name or _DEFAULT_SIGNATURE
        given, expected = set(request.inputs), set(self.inputs(request.model_spec))
        if given != expected:
            raise invalid(
                f"input size does not match signature: {len(given)}!={len(expected)} "
                f"Sent extra: {sorted(given - expected)}. Missing but required: {sorted(expected - given)}."
            )
        try:
            inputs = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
            outputs = version.model.call(signature, inputs)
        except tf.errors.OpError as error:
            raise Refusal(_CODES.get(error.error_code, grpc.StatusCode.INTERNAL), error.message) from None
        except (TypeError, ValueError) as error:
            raise invalid(str(error)) from None
        response = predict_pb2.PredictResponse(model_spec=self._spec(number, signature))
        for name, array in outputs.items():
            response.outputs[name].CopyFrom(tf.make_tensor_proto(array))
        return response

    def inputs(self, spec: model_pb2.ModelSpec) -> Mapping[str, Any]:
        """The inputs of a signature: their types and shapes by their names.

        Raises:
          Refusal: there is no such model, version or signature.
        """
        _, version = self._find(spec)
        name = spec.signature_name or _DEFAULT_SIGNATURE
        if name not in version.model.signatures:
            raise invalid(f'Serving signature name: "{name}" not found in signature def')
        inputs: Mapping[str, Any] = version.signatures[name].inputs
        return inputs

    def metadata(
        self, request: get_model_metadata_pb2.GetModelMetadataRequest
    ) -> get_model_metadata_pb2.GetModelMetadataResponse:
        """The signatures of a version.

        Raises:
          Refusal: there is no such model or version, or something else is asked for.
        """
        if list(request.metadata_field) != [_METADATA]:
            raise invalid(f"Metadata field must be {_METADATA}; got {list(request.metadata_field)}.")
        number, version = self._find(request.model_spec)
        signatures = any_pb2.Any()
        signatures.Pack(get_model_metadata_pb2.SignatureDefMap(signature_def=version.signatures))
        return get_model_metadata_pb2.GetModelMetadataResponse(
            model_spec=self._spec(number), metadata={_METADATA: signatures}
        )

    def status(
        self, request: get_model_status_pb2.GetModelStatusRequest
    ) -> get_model_status_pb2.GetModelStatusResponse:
        """The state of one version, or of all.

        Raises:
          Refusal: there is no such model or version.
        """
        spec = request.model_spec
        asked = [spec.version.value] if spec.HasField("version") else sorted(self._versions, reverse=True)
        if spec.name != MODEL_NAME or not self._versions.keys() >= {*asked}:
            versions = f"version {asked[0]}" if spec.HasField("version") else "any versions"
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Could not find {versions} of model {spec.name}")
        state = get_model_status_pb2.ModelVersionStatus.AVAILABLE
        return get_model_status_pb2.GetModelStatusResponse(
            model_version_status=[
                get_model_status_pb2.ModelVersionStatus(version=number, state=state, status={}) for number in asked
            ]
        )

    def _find(self, spec: model_pb2.ModelSpec) -> tuple[int, _Version]:
        """The requested version, or the newest, and its number."""
        if spec.version_label:
            raise invalid(f"Unrecognized servable version label: {spec.version_label}")
        asked = spec.version.value if spec.HasField("version") else None
        number = max(self._versions) if asked is None else asked
        if spec.name != MODEL_NAME or number not in self._versions:
            servable = f"Latest({spec.name})" if asked is None else f"Specific({spec.name}, {asked})"
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Servable not found for request: {servable}")
        return number, self._versions[number]

    def _spec(self, number: int, signature: str = "") -> model_pb2.ModelSpec:
        spec = model_pb2.ModelSpec(name=MODEL_NAME, signature_name=signature)
        spec.version.value = number
        return spec


def _load(path: str) -> _Version:
    model = LoadedModel(path)
    with tf.io.gfile.GFile(os.path.join(path, "saved_model.pb"), "rb") as file:
        (graph,) = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs
    return _Version(model, dict(graph.signature_def))
