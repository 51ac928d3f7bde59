"""Launches the stages of a pipeline one by one, as TFX's LocalDagRunner does, and announces each.

That runner can neither tell of a stage nor run one anew whose files were lost. What it is made of is called here:
public names, but outside `tfx.v1`, so that an upgrade may change them; every test of a whole run would fail then.
"""

import copy
import datetime
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import apache_beam as beam
from ml_metadata.proto import metadata_store_pb2
from tfx import types
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

from pipeline.pipeline import ALWAYS_RUN
from pipeline.recovery import is_whole, record_files, replace_files
from pipeline.stages import How, StageEnd
from pipeline.usage import cpu_seconds, peak_memory

Outputs = Mapping[str, Sequence[types.Artifact]]


def launch(
    pipeline: tfx_pipeline.Pipeline,
    connection: metadata_store_pb2.ConnectionConfig,
    on_start: Callable[[int, int, str], None],
    on_outputs: Callable[[str, Outputs], None] = lambda name, outputs: None,
    beam_arguments: Sequence[str] = (),
) -> Iterator[tuple[StageEnd, Outputs]]:
    """Runs every stage that the cache does not hold, in order.

    Args:
      pipeline: the pipeline.
      connection: of its metadata.
      on_start: called with (number, total, name) when a stage starts.
      on_outputs: called with (name, output artifacts) when a stage is about to write these, or has them in the cache.
      beam_arguments: of the runner of the Beam stages, which is no part of what the cache goes by.

    Yields:
      each stage that is done, with its output artifacts.
    """
    ir = compiler.Compiler().compile(pipeline)
    runtime_parameter_utils.substitute_runtime_parameter(
        ir, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: datetime.datetime.now().isoformat()}
    )
    for number, item in enumerate(ir.nodes, 1):
        node = item.pipeline_node
        name = node.node_info.id
        if name in ALWAYS_RUN:
            node.execution_options.caching_options.enable_cache = False
        started, used = time.monotonic(), cpu_seconds()
        on_start(number, len(ir.nodes), name)
        how, outputs = _launch_node(ir, node, connection, beam_arguments, partial(on_outputs, name))
        if how == "cached":
            on_outputs(name, outputs)
        uris = [artifact.uri for some in outputs.values() for artifact in some]
        if how == "run":
            record_files(uris)
        elif not all(map(is_whole, uris)):
            _restore(ir, node, connection, beam_arguments, outputs)
            how = "restored"
        seconds, cpu = time.monotonic() - started, cpu_seconds() - used
        yield StageEnd(number, len(ir.nodes), name, how, seconds, cpu, peak_memory()), outputs


def _launch_node(
    ir: pipeline_pb2.Pipeline,
    node: pipeline_pb2.PipelineNode,
    connection: metadata_store_pb2.ConnectionConfig,
    beam_arguments: Sequence[str],
    on_outputs: Callable[[Outputs], None] = lambda outputs: None,
) -> tuple[How, Outputs]:
    """Launches one node: whether it ran, and its output artifacts, with which `on_outputs` is called before it runs."""
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
    cached = execution.last_known_state == metadata_store_pb2.Execution.CACHED
    return "cached" if cached else "run", outputs


class _AnnouncingOperator(PythonExecutorOperator):
    """Runs an executor in this process, after announcing its output artifacts."""

    def __init__(self, on_outputs: Callable[[Outputs], None], *arguments: Any) -> None:
        super().__init__(*arguments)
        self._on_outputs = on_outputs

    def run_executor(self, execution_info: data_types.ExecutionInfo) -> Any:
        """Called by TFX's launcher."""
        self._on_outputs(execution_info.output_dict)
        return super().run_executor(execution_info)


class _BeamOperator(BeamExecutorOperator):
    """Runs a Beam stage on a runner of ours.

    TFX would take a runner's arguments into the cache's key, and pack itself anew for each stage that has some.
    """

    def __init__(self, beam_arguments: Sequence[str], *arguments: Any) -> None:
        super().__init__(*arguments)
        self._beam_arguments = [*beam_arguments]

    def run_executor(self, execution_info: data_types.ExecutionInfo, make_beam_pipeline_fn: Any = None) -> Any:
        """Called by TFX's launcher."""
        if self._beam_arguments:
            make_beam_pipeline_fn = partial(beam.Pipeline, argv=self._beam_arguments)
        return super().run_executor(execution_info, make_beam_pipeline_fn)


def _restore(
    ir: pipeline_pb2.Pipeline,
    node: pipeline_pb2.PipelineNode,
    connection: metadata_store_pb2.ConnectionConfig,
    beam_arguments: Sequence[str],
    lost: Outputs,
) -> None:
    """Repeats a node whose files were lost, and puts them where they were: what follows stays in the cache."""
    again = copy.deepcopy(node)
    again.execution_options.caching_options.enable_cache = False
    # Not in this run's context, where the nodes that follow would find its artifacts.
    for context in again.contexts.contexts:
        if context.type.name == constants.PIPELINE_RUN_CONTEXT_TYPE_NAME:
            context.name.field_value.string_value += "/restored"
    _, outputs = _launch_node(ir, again, connection, beam_arguments)
    with metadata.Metadata(connection) as handle:
        for key, artifacts in lost.items():
            for old, new in zip(artifacts, outputs[key], strict=True):
                replace_files(handle.store, old.mlmd_artifact, new.mlmd_artifact)
