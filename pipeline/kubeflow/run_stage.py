"""Runs one stage in its container: the command of every task that `pipeline.kubeflow.compile_pipeline` writes.

TFX's own entry module for Kubeflow is of an older Kubeflow, which gave tasks no output but theirs, and expects to reach
the store of artifacts itself. What differs is set right here, before and after its public `main`.
"""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pipeline.kubeflow.executor_input import ExecutorInput
from pipeline.kubeflow.parameters import with_parameters
from schemas.errors import ConfigError, DataError

PACKAGE: Final = "package:"
"""How the value of a property begins that is a file of the project, wherever an image has it."""

_ROOT: Final = Path(__file__).parents[2]


def main(arguments: Sequence[str]) -> None:
    """Runs a stage.

    Args:
      arguments: those of TFX's entry module, and `--stage NAME`.

    Raises:
      DataError: the stage refuses its data, or this image is not of the code that the pipeline was compiled from.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--stage", required=True)
    parser.add_argument("--executor_class_path", required=True)
    parser.add_argument("--json_serialized_invocation_args", required=True)
    parser.add_argument("--json_serialized_inputs_spec_args", required=True)
    given, beam_arguments = parser.parse_known_args(arguments)
    task = ExecutorInput(json.loads(given.json_serialized_invocation_args))
    parameters = {name: _resolved(value) for name, value in task.parameters.items()}
    _check_identity(given.stage, given.executor_class_path, parameters)
    parameters = with_parameters(given.stage, parameters)
    _configure_devices(parameters)
    task.make_output_folders()

    from tfx.orchestration.kubeflow.v2 import compiler_utils
    from tfx.orchestration.kubeflow.v2.container import kubeflow_v2_run_executor

    from schemas import artifacts

    # TFX finds a class by the name of its type, and would import ours from a module `clir`.
    for kind in artifacts.TYPES:
        compiler_utils.TITLE_TO_CLASS_PATH[kind.TYPE_NAME] = f"{kind.__module__}.{kind.__name__}"
    given.json_serialized_invocation_args = json.dumps(task.for_tfx(parameters))
    kubeflow_v2_run_executor.main((given, beam_arguments))
    written = Path(task.output_file)
    written.write_text(json.dumps(task.from_tfx(json.loads(written.read_text(encoding="utf-8")))), encoding="utf-8")


def _resolved(value: Any) -> Any:
    """A property's value; a file of the project by its path here."""
    if isinstance(value, str) and value.startswith(PACKAGE):
        return str(_ROOT / value.removeprefix(PACKAGE))
    return value


def _check_identity(stage: str, executor: str, parameters: dict[str, Any]) -> None:
    """Kubeflow's cache would keep what this code makes under the name of another."""
    from components.stage import IDENTITY
    from pipeline.identity import identity_of_stage

    found = identity_of_stage(executor.rpartition(".")[0], parameters)
    if found != parameters[IDENTITY]:
        raise DataError(
            f"the image must hold the code, the Python and the libraries that the pipeline was compiled from, or "
            f"Kubeflow's cache would take one's results for the other's; those of {stage} differ: compile with this "
            "image (see docs/kubeflow.md), or build the image anew."
        )


def _configure_devices(parameters: dict[str, Any]) -> None:
    """Sets the devices of a stage that trains up, which TensorFlow allows only before its first op."""
    from models.job import TrainingJob

    if job := TrainingJob.in_properties(parameters):
        from models.training.devices import configure_devices

        configure_devices(job.training, job.model.encoder)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    try:
        main(sys.argv[1:])
    except (ConfigError, DataError) as error:
        sys.exit(f"clir: {error}")
