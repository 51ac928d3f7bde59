"""Runs one stage in its container: the command of every task that `pipeline.kubeflow.compile_pipeline` writes.

TFX's own entry module for Kubeflow belongs to an older Kubeflow, whose tasks had no outputs of Kubeflow's own, and it
expects to reach the store of artifacts itself. This module bridges both differences before and after TFX's entry.
"""

import argparse
import copy
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pipeline.kubeflow.parameters import with_parameters
from pipeline.kubeflow.settings import STORES
from schemas.errors import ConfigError, DataError
from schemas.json_files import parse_json

PACKAGE: Final = "package:"
"""The prefix of a property's value that names a file of the project, in any image."""

_ROOT: Final = Path(__file__).parents[2]
_LOCAL_FOLDERS: Final = dict(zip(STORES, ("gcs", "s3", "minio"), strict=True))
_LOCAL_PATH: Final = "ARTIFACT_LOCAL_PATH"
"""Environment variable of Kubeflow's launcher: the parent of these folders, by default the root."""

Json = dict[str, Any]


def local_path(uri: str) -> str:
    """The path where Kubeflow's launcher puts an input before a task, and finds an output after it.

    A path stays as it is.

    Example:
      >>> local_path("minio://mlpipeline/v2/artifacts/model")
      '/minio/mlpipeline/v2/artifacts/model'
    """
    for scheme, folder in _LOCAL_FOLDERS.items():
        if uri.startswith(scheme):
            return f"{os.environ.get(_LOCAL_PATH, '')}/{folder}/{uri.removeprefix(scheme)}"
    return uri


class ExecutorInput:
    """The inputs and outputs of a task.

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
        """The message with other parameters, and with every artifact's path on this disk."""
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
        """TFX's message about the output artifacts, with the addresses that Kubeflow gave them."""
        content = copy.deepcopy(dict(output))
        for name, artifacts in content.get("artifacts", {}).items():
            for artifact, original in zip(artifacts["artifacts"], self._outputs[name]["artifacts"], strict=True):
                artifact["uri"] = original["uri"]
        return content


def _moved(artifacts: Mapping[str, Any]) -> Json:
    moved = copy.deepcopy(dict(artifacts))
    for entry in moved.values():
        for artifact in entry["artifacts"]:
            artifact["uri"] = local_path(artifact["uri"])
    return moved


def main(arguments: Sequence[str]) -> None:
    """Runs a stage.

    Args:
      arguments: those of TFX's entry module, and `--stage NAME`.

    Raises:
      DataError: the stage refuses its data, or the pipeline was compiled from other code than this image's.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--stage", required=True)
    parser.add_argument("--executor_class_path", required=True)
    parser.add_argument("--json_serialized_invocation_args", required=True)
    parser.add_argument("--json_serialized_inputs_spec_args", required=True)
    options, beam_arguments = parser.parse_known_args(arguments)
    task = ExecutorInput(parse_json(options.json_serialized_invocation_args))
    parameters = {name: _resolved(value) for name, value in task.parameters.items()}
    _check_identity(options.stage, options.executor_class_path, parameters)
    parameters = with_parameters(options.stage, parameters)
    _configure_devices(parameters)
    task.make_output_folders()

    from pipeline.tfx_interfaces import run_kubeflow_task  # takes seconds, and TensorFlow has its devices now

    options.json_serialized_invocation_args = json.dumps(task.for_tfx(parameters))
    run_kubeflow_task(options, beam_arguments)
    written = Path(task.output_file)
    written.write_text(json.dumps(task.from_tfx(parse_json(written.read_text(encoding="utf-8")))), encoding="utf-8")


def _resolved(value: Any) -> Any:
    """A property's value; a file of the project becomes its path here."""
    if isinstance(value, str) and value.startswith(PACKAGE):
        return str(_ROOT / value.removeprefix(PACKAGE))
    return value


def _check_identity(stage: str, executor: str, parameters: dict[str, Any]) -> None:
    """Refuses other code: Kubeflow's cache would keep this code's outputs under the other code's key."""
    from components.stage import IDENTITY
    from pipeline.identity import identity_of_stage

    actual = identity_of_stage(executor.rpartition(".")[0], parameters)
    if actual != parameters[IDENTITY]:
        raise DataError(
            "the image must hold the code, the Python and the libraries that the pipeline was compiled with, because "
            f"Kubeflow's cache cannot tell their results apart; those of {stage} differ: compile with this image (see "
            "docs/kubeflow.md), or build the image again."
        )


def _configure_devices(parameters: dict[str, Any]) -> None:
    """Sets up the devices of a stage that trains, which TensorFlow allows only before its first op."""
    from models.job import TrainingJob

    if job := TrainingJob.in_properties(parameters):
        from models.training.devices import configure_devices

        configure_devices(job.training, job.towers)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    try:
        main(sys.argv[1:])
    except (ConfigError, DataError) as error:
        sys.exit(f"clir: {error}")
