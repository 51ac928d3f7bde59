"""Kubeflow's ExecutorInput in the form that TFX takes: artifacts on this disk, and of TFX's types alone."""

import copy
import os
from collections.abc import Mapping
from typing import Any, Final

from pipeline.kubeflow.settings import STORES

_LOCAL_FOLDERS: Final = dict(zip(STORES, ("gcs", "s3", "minio"), strict=True))
_ROOT: Final = "ARTIFACT_LOCAL_PATH"
"""Environment variable of Kubeflow's launcher: the folder that those lie in, instead of the root."""

Json = dict[str, Any]


def local_path(uri: str) -> str:
    """Where Kubeflow's launcher puts an artifact before a task, and takes it from after; a path stays as it is.

    Example:
      >>> local_path("minio://mlpipeline/v2/artifacts/model")
      '/minio/mlpipeline/v2/artifacts/model'
    """
    for scheme, folder in _LOCAL_FOLDERS.items():
        if uri.startswith(scheme):
            return f"{os.environ.get(_ROOT, '')}/{folder}/{uri.removeprefix(scheme)}"
    return uri


class ExecutorInput:
    """What a task is given.

    Args:
      content: Kubeflow's message, as JSON.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        self.parameters: dict[str, Any] = dict(content.get("inputs", {}).get("parameterValues", {}))
        self._inputs: Json = content.get("inputs", {}).get("artifacts", {})
        # Kubeflow adds an output for the task's log, of a type that TFX does not know; the launcher itself writes it.
        self._outputs: Json = {
            name: artifacts
            for name, artifacts in content["outputs"].get("artifacts", {}).items()
            if not artifacts["artifacts"][0].get("type", {}).get("schemaTitle", "").startswith("system.")
        }
        self.output_file: str = content["outputs"]["outputFile"]

    def for_tfx(self, parameters: Mapping[str, Any]) -> Json:
        """The message with other parameters, and every artifact at its place on this disk."""
        content = copy.deepcopy(dict(self._content))
        content["inputs"] = {
            **content.get("inputs", {}),
            "parameterValues": dict(parameters),
            "artifacts": _moved(self._inputs),
        }
        content["outputs"]["artifacts"] = _moved(self._outputs)
        return content

    def make_output_folders(self) -> None:
        """Makes the folders of the output artifacts, as TFX's own launcher does."""
        for artifacts in _moved(self._outputs).values():
            for artifact in artifacts["artifacts"]:
                os.makedirs(artifact["uri"], exist_ok=True)

    def from_tfx(self, output: Mapping[str, Any]) -> Json:
        """What TFX wrote of the output artifacts, with the addresses that Kubeflow gave them."""
        content = copy.deepcopy(dict(output))
        for name, artifacts in content.get("artifacts", {}).items():
            for artifact, given in zip(artifacts["artifacts"], self._outputs[name]["artifacts"], strict=True):
                artifact["uri"] = given["uri"]
        return content


def _moved(artifacts: Mapping[str, Any]) -> Json:
    moved = copy.deepcopy(dict(artifacts))
    for some in moved.values():
        for artifact in some["artifacts"]:
            artifact["uri"] = local_path(artifact["uri"])
    return moved
