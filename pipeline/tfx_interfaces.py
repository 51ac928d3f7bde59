"""TFX's interfaces for runners, which are not part of `tfx.v1`: an upgrade may change them.

TFX's own local runner neither announces a stage nor repeats one whose files were lost, so its parts are called here.
`tests/e2e/test_run.py` and `tests/e2e/test_kubeflow.py` notice a change; `components/on_workers.py` has what executors
need. After a change of TFX, follow its own local runner (`tfx.orchestration.local`), which calls the same parts.
"""

import copy
import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
import ml_metadata
from ml_metadata.proto import metadata_store_pb2
from tfx.dsl.compiler import compiler, constants
from tfx.orchestration import metadata
from tfx.orchestration import pipeline as tfx_pipeline
from tfx.orchestration.local import runner_utils
from tfx.orchestration.portable import data_types, launcher, runtime_parameter_utils
from tfx.orchestration.portable.beam_executor_operator import BeamExecutorOperator
from tfx.orchestration.portable.mlmd import execution_lib
from tfx.orchestration.portable.python_executor_operator import PythonExecutorOperator
from tfx.proto.orchestration import pipeline_pb2
from tfx.proto.orchestration.executable_spec_pb2 import BeamExecutableSpec, PythonClassExecutableSpec

from pipeline.stages import Outputs


def sqlite_connection(path: Path) -> metadata_store_pb2.ConnectionConfig:
    """The connection to the metadata in a SQLite file."""
    return metadata.sqlite_metadata_connection_config(str(path))


@contextmanager
def opened(connection: metadata_store_pb2.ConnectionConfig) -> Iterator[ml_metadata.MetadataStore]:
    """Opens a metadata store."""
    with metadata.Metadata(connection) as handle:
        yield handle.store


def compiled(pipeline: tfx_pipeline.Pipeline) -> pipeline_pb2.Pipeline:
    """Compiles a pipeline for TFX's launcher, with the id of a new run."""
    ir = compiler.Compiler().compile(pipeline)
    runtime_parameter_utils.substitute_runtime_parameter(
        ir, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: datetime.datetime.now().isoformat()}
    )
    return ir


def launch_node(
    ir: pipeline_pb2.Pipeline,
    node: pipeline_pb2.PipelineNode,
    connection: metadata_store_pb2.ConnectionConfig,
    beam_arguments: Sequence[str],
    on_outputs: Callable[[Outputs], None] = lambda outputs: None,
) -> tuple[bool, Outputs]:
    """Launches one node.

    Args:
      ir: the compiled pipeline.
      node: a node of it.
      connection: the connection to the metadata.
      beam_arguments: arguments of the Beam runner.
      on_outputs: called with the output artifacts before the node runs.

    Returns:
      whether the node came from the cache, and its output artifacts.
    """
    deployment = runner_utils.extract_local_deployment_config(ir)
    name = node.node_info.id
    result = launcher.Launcher(
        pipeline_node=node,
        mlmd_connection=metadata.Metadata(connection),
        pipeline_info=ir.pipeline_info,
        pipeline_runtime_spec=ir.runtime_spec,
        executor_spec=runner_utils.extract_executor_spec(deployment, name),
        custom_driver_spec=runner_utils.extract_custom_driver_spec(deployment, name),
        custom_executor_operators={
            PythonClassExecutableSpec: partial(_AnnouncingOperator, on_outputs),
            BeamExecutableSpec: partial(_BeamOperator, beam_arguments),
        },
    ).launch()
    with metadata.Metadata(connection) as handle:
        # A cached execution's own record names new folders; its events name the artifacts that it reuses.
        outputs = execution_lib.get_output_artifacts(handle, result.execution_id)
        (execution,) = handle.store.get_executions_by_id([result.execution_id])
    return execution.last_known_state == metadata_store_pb2.Execution.CACHED, outputs


def uncached_copy(node: pipeline_pb2.PipelineNode) -> pipeline_pb2.PipelineNode:
    """Copies a node so that it runs without the cache and outside the run, where later nodes do not find its
    artifacts."""
    again = copy.deepcopy(node)
    again.execution_options.caching_options.enable_cache = False
    for context in again.contexts.contexts:
        if context.type.name == constants.PIPELINE_RUN_CONTEXT_TYPE_NAME:
            context.name.field_value.string_value += "/restored"
    return again


class _AnnouncingOperator(PythonExecutorOperator):
    """Runs an executor in this process, after announcing its output artifacts."""

    def __init__(self, on_outputs: Callable[[Outputs], None], *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._on_outputs = on_outputs

    def run_executor(self, execution_info: data_types.ExecutionInfo) -> Any:
        """Called by TFX's launcher."""
        self._on_outputs(execution_info.output_dict)
        return super().run_executor(execution_info)


class _BeamOperator(BeamExecutorOperator):
    """Runs a Beam stage on the configured runner.

    TFX itself would add a runner's arguments to the cache key, and package itself for each stage that has arguments.
    """

    def __init__(self, beam_arguments: Sequence[str], *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._beam_arguments = [*beam_arguments]

    def run_executor(self, execution_info: data_types.ExecutionInfo, make_beam_pipeline_fn: Any = None) -> Any:
        """Called by TFX's launcher."""
        if self._beam_arguments:
            make_beam_pipeline_fn = partial(beam.Pipeline, argv=self._beam_arguments)
        return super().run_executor(execution_info, make_beam_pipeline_fn)


def run_kubeflow_task(arguments: Any, beam_arguments: Sequence[str]) -> None:
    """Runs a task with TFX's entry module for Kubeflow.

    Args:
      arguments: the entry module's, parsed.
      beam_arguments: arguments of the Beam runner.
    """
    from tfx.orchestration.kubeflow.v2 import compiler_utils
    from tfx.orchestration.kubeflow.v2.container import kubeflow_v2_run_executor

    from schemas import artifacts

    # TFX finds a class by the name of its type, and would import our classes from a module `clir`.
    for kind in artifacts.TYPES:
        compiler_utils.TITLE_TO_CLASS_PATH[kind.TYPE_NAME] = f"{kind.__module__}.{kind.__name__}"
    kubeflow_v2_run_executor.main((arguments, beam_arguments))
