"""Runs the pipeline in this process, with SQLite metadata, and lays its results out under one folder."""

import datetime
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ml_metadata.proto import metadata_store_pb2
from tfx import types
from tfx import v1 as tfx
from tfx.dsl.compiler import compiler, constants
from tfx.orchestration import metadata
from tfx.orchestration.local import runner_utils
from tfx.orchestration.portable import launcher, runtime_parameter_utils
from tfx.orchestration.portable.mlmd import execution_lib

import schemas
from models.devices import configure_devices
from pipeline.config import RunConfig, dump_config
from pipeline.layout import ARTIFACTS, CONFIG_FILE, DATA, EVALUATION, METADATA_FILE, SERVING, TENSORBOARD
from pipeline.pipeline import create_pipeline
from pipeline.stages import StageEnd

Outputs = Mapping[str, Sequence[types.Artifact]]

_SCHEMA_FILE = str(Path(schemas.__file__).parent / "schema.pbtxt")


class RunResult(NamedTuple):
    """What a run left."""

    report: dict[str, Any]
    """The content of `evaluation/metrics.json`."""
    data_report: dict[str, Any]
    """The content of `data/report.json`."""
    pushed: str | None
    """Folder of the pushed version; None where the gate refused the model."""
    cached: bool
    """Whether every stage came from the cache."""


def run_locally(
    config: RunConfig,
    on_start: Callable[[int, int, str], None],
    on_end: Callable[[StageEnd], None],
) -> RunResult:
    """Runs every stage that the cache does not hold, in order.

    The caller holds the output folder (see `pipeline.run_lock`).

    Args:
      config: resolved, with the digests of its inputs.
      on_start: told (number, total, name) of a stage that starts.
      on_end: told of a stage that is done.

    Returns:
      what came out; the same stands under `config.output`.
    """
    output = Path(config.output)
    (output / CONFIG_FILE).write_text(dump_config(config), encoding="utf-8")
    configure_devices(config.training)
    _link(output / TENSORBOARD, Path(ARTIFACTS, "Trainer", "model_run"))
    connection = tfx.orchestration.metadata.sqlite_metadata_connection_config(str(output / METADATA_FILE))
    pipeline = create_pipeline(
        config,
        pipeline_root=str(output / ARTIFACTS),
        schema_path=_SCHEMA_FILE,
        serving_path=str(output / SERVING),
        metadata_connection_config=connection,
        enable_cache=True,
    )
    outputs: dict[str, Outputs] = {}
    all_cached = True
    for end, stage_outputs in _launch(pipeline, connection, on_start):
        outputs[end.name] = stage_outputs
        all_cached = all_cached and end.cached
        on_end(end)
    _publish(outputs["Evaluator"]["evaluation"], output / EVALUATION)
    _publish(outputs["WikiClirExampleGen"]["report"], output / DATA)
    (pushed,) = outputs["Pusher"]["pushed_model"]
    return RunResult(
        report=json.loads((output / EVALUATION / "metrics.json").read_text(encoding="utf-8")),
        data_report=json.loads((output / DATA / "report.json").read_text(encoding="utf-8")),
        pushed=pushed.get_string_custom_property("pushed_destination") or None,
        cached=all_cached,
    )


def _publish(artifacts: Sequence[types.Artifact], folder: Path) -> None:
    """Copies an artifact's files to where people look for them."""
    (artifact,) = artifacts
    shutil.copytree(artifact.uri, folder, dirs_exist_ok=True)


def _launch(
    pipeline: tfx.dsl.Pipeline,
    connection: metadata_store_pb2.ConnectionConfig,
    on_start: Callable[[int, int, str], None],
) -> Iterator[tuple[StageEnd, Outputs]]:
    """Launches the nodes one by one, as TFX's LocalDagRunner does, and tells of each."""
    ir = compiler.Compiler().compile(pipeline)
    runtime_parameter_utils.substitute_runtime_parameter(
        ir, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: datetime.datetime.now().isoformat()}
    )
    deployment = runner_utils.extract_local_deployment_config(ir)
    for number, node in enumerate(ir.nodes, 1):
        name = node.pipeline_node.node_info.id
        started = time.monotonic()
        on_start(number, len(ir.nodes), name)
        result = launcher.Launcher(
            pipeline_node=node.pipeline_node,
            mlmd_connection=metadata.Metadata(connection),
            pipeline_info=ir.pipeline_info,
            pipeline_runtime_spec=ir.runtime_spec,
            executor_spec=runner_utils.extract_executor_spec(deployment, name),
            custom_driver_spec=runner_utils.extract_custom_driver_spec(deployment, name),
        ).launch()
        with metadata.Metadata(connection) as handle:
            # A cached execution's own record names new folders; its events name the artifacts that it reuses.
            outputs = execution_lib.get_output_artifacts(handle, result.execution_id)
            (execution,) = handle.store.get_executions_by_id([result.execution_id])
        cached = execution.last_known_state == metadata_store_pb2.Execution.CACHED
        yield StageEnd(number, len(ir.nodes), name, cached, time.monotonic() - started), outputs


def _link(link: Path, target: Path) -> None:
    """Makes TensorBoard's folder point at the Trainer's runs, so that it can be watched while they last."""
    if link.is_symlink():
        link.unlink()
    if not link.exists():
        os.symlink(target, link)
