"""A model in a TF Serving, over its REST API."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow.core.framework import types_pb2

from schemas.errors import DataError
from schemas.served_versions import MODEL_NAME
from serving.own_columns import own_columns
from serving.served_model import Arrays


class TfServingRestModel:
    """A `ServedModel` in a TF Serving, over its REST API, in columnar JSON.

    It lacks the signatures without inputs, such as `channel_weights`: TF Serving's REST API refuses them.

    Args:
      url: of the server, such as http://localhost:8501.
      name: the model's.
      version: the version's number, which every request asks for; None for the newest one that it serves now.
      deadline: seconds after which a call is given up.

    Raises:
      DataError: it does not answer, or serves no such model or version.
    """

    def __init__(self, url: str, name: str = MODEL_NAME, version: str | None = None, deadline: float = 10.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise DataError(f"the address of a REST API must be http://host:port, or https; got {url!r}.")
        self._url, self._name, self._deadline = url.rstrip("/"), name, deadline
        model = f"/v1/models/{urllib.parse.quote(name, safe='')}"
        self.version = self._available(f"{model}/versions/{version}" if version else model)
        self._path = f"{model}/versions/{self.version}"
        signatures = self._ask(f"{self._path}/metadata")["metadata"]["signature_def"]["signature_def"]
        self._outputs = {name: one["outputs"] for name, one in signatures.items() if one["inputs"]}

    @property
    def signatures(self) -> frozenset[str]:
        """Those that have inputs."""
        return frozenset(self._outputs)

    def call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        """What a signature gives.

        Raises:
          DataError: the TF Serving does not answer in time, serves the version no more, or refuses the request.
        """
        texts = {name: _as_json(np.asarray(one).tolist()) for name, one in inputs.items()}
        answer = self._ask(f"{self._path}:predict", {"signature_name": signature, "inputs": texts})["outputs"]
        outputs = self._outputs[signature]
        if len(outputs) == 1:  # whose name TF Serving leaves out
            answer = dict.fromkeys(outputs, answer)
        arrays = {name: _as_array(values, outputs[name]["dtype"]) for name, values in answer.items()}
        return own_columns(signature, inputs, arrays)

    def _available(self, path: str) -> str:
        """The newest version that is served, of the model or of one version of it."""
        states = {one["version"]: one["state"] for one in self._ask(path)["model_version_status"]}
        available = [str(version) for version, state in states.items() if state == "AVAILABLE"]
        if not available:
            told = ", ".join(f"{version} is {state}" for version, state in sorted(states.items()))
            raise DataError(
                f"the TF Serving at {self._url} must serve a version of the model {self._name}; got {told}."
            )
        return max(available, key=int)

    def _ask(self, path: str, content: Any = None) -> Any:
        """The JSON that comes back of a path."""
        body = None if content is None else json.dumps(content).encode()
        try:
            with urllib.request.urlopen(self._url + path, body, timeout=self._deadline) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                told = error.read().decode("utf-8", "replace").strip()
            raise DataError(f"the TF Serving at {self._url} refused {path} (HTTP {error.code}): {told}") from None
        except TimeoutError:
            raise DataError(
                f"the TF Serving at {self._url} must answer within {self._deadline:g} s; it did not."
            ) from None
        except (OSError, ValueError) as error:
            raise DataError(
                f"no TF Serving answers at {self._url}: {getattr(error, 'reason', error)}. Start it, or name another."
            ) from None


def _as_json(values: Any) -> Any:
    """Nested lists of texts, `bytes` as TF Serving takes them."""
    if isinstance(values, list):
        return [_as_json(one) for one in values]
    return {"b64": base64.b64encode(values).decode()} if isinstance(values, bytes) else values


def _as_array(values: Any, dtype: str) -> npt.NDArray[Any]:
    """Values of one of TensorFlow's types, strings as `bytes`."""
    if dtype != "DT_STRING":
        return np.asarray(values, tf.dtypes.as_dtype(types_pb2.DataType.Value(dtype)).as_numpy_dtype)
    texts = np.asarray(values, object)
    return np.asarray([text.encode() for text in texts.flat], object).reshape(texts.shape)
