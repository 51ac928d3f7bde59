"""Runs the pipeline in this process, with SQLite metadata, and lays its results out under one folder."""

import copy
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
from tfx.dsl.compiler import compiler, constants
from tfx.orchestration import metadata
from tfx.orchestration import pipeline as tfx_pipeline
from tfx.orchestration.local import runner_utils
from tfx.orchestration.portable import launcher, runtime_parameter_utils
from tfx.orchestration.portable.mlmd import execution_lib
from tfx.proto.orchestration import pipeline_pb2
from tfx.utils import path_utils

import schemas
from components.evaluator.executor import VERDICT_KEY
from components.trainer.run_fn import HISTORY_FILE, VECTORS_FILE
from components.training_report.describe_stability import describe_stability
from components.training_report.stability_report import stability_report
from components.tuner.results import TRIALS_FILE
from models.devices import configure_devices
from models.versions import place_version
from pipeline.artifact_store import (
    has_record,
    is_whole,
    make_missing_folders,
    record_files,
    remove_leftovers,
    replace_files,
)
from pipeline.config import RunConfig, dump_config, with_settings
from pipeline.layout import (
    ARTIFACTS,
    CHECKPOINTS,
    CONFIG_FILE,
    DATA,
    EVALUATION,
    METADATA_FILE,
    SERVING,
    TENSORBOARD,
    TRAINING,
    TUNING,
)
from pipeline.pipeline import create_pipeline
from pipeline.stages import How, StageEnd

Outputs = Mapping[str, Sequence[types.Artifact]]

_SCHEMA_FILE = str(Path(schemas.__file__).parent / "schema.pbtxt")


class RunResult(NamedTuple):
    """What a run left."""

    report: dict[str, Any]
    """The content of `evaluation/metrics.json`."""
    verdict: dict[str, Any]
    """The content of `evaluation/verdict.json`."""
    data_report: dict[str, Any]
    """The content of `data/report.json`."""
    tuning: dict[str, Any] | None
    """The content of `tuning/results.json`; None without a search."""
    pushed: str | None
    """Folder of the pushed version; None where the gate refused the model, and in an experiment."""
    cached: bool
    """Whether every stage came from the cache."""


def run_locally(
    config: RunConfig,
    on_start: Callable[[int, int, str], None],
    on_end: Callable[[StageEnd], None],
    experiment: Path | None = None,
) -> RunResult:
    """Runs every stage that the cache does not hold, in order.

    The caller holds the output folder (see `pipeline.run_lock`).

    Args:
      config: resolved, with the digests of its inputs.
      on_start: told (number, total, name) of a stage that starts.
      on_end: told of a stage that is done.
      experiment: folder of the experiment that this run is a cell of, if any: its artifacts and metadata are shared by
        all cells, and no model is pushed.

    Returns:
      what came out; the same stands under `config.output`.
    """
    output = Path(config.output)
    store = experiment or output
    (output / CONFIG_FILE).write_text(dump_config(config), encoding="utf-8")
    configure_devices(config.training)
    _link(store / TENSORBOARD, Path(ARTIFACTS, "Trainer", "model_run"))
    artifacts = store / ARTIFACTS
    connection = metadata.sqlite_metadata_connection_config(str(store / METADATA_FILE))
    pipeline = create_pipeline(
        config,
        pipeline_root=str(artifacts),
        schema_path=_SCHEMA_FILE,
        serving_path=str(store / SERVING),
        cell=output.name if experiment else None,
        metadata_connection_config=connection,
        enable_cache=True,
    )
    with metadata.Metadata(connection) as handle:
        remove_leftovers(handle.store, artifacts, keep=CHECKPOINTS)
        make_missing_folders(handle.store, artifacts)
    outputs: dict[str, Outputs] = {}
    all_cached = True
    for end, stage_outputs in _launch(pipeline, connection, on_start):
        outputs[end.name] = stage_outputs
        all_cached = all_cached and end.how == "cached"
        on_end(end)
    _publish(outputs["Evaluator"]["evaluation"], output / EVALUATION)
    _publish(outputs["WikiClirExampleGen"]["report"], output / DATA)
    tuning = None
    shutil.rmtree(output / TUNING, ignore_errors=True)
    if "Tuner" in outputs:
        # Matplotlib takes a second to import.
        from components.training_report.tuning_report import best_settings, write_tuning_report

        (results,) = outputs["Tuner"]["tuner_results"]
        tuning = _read_json(Path(results.uri, TRIALS_FILE))
        write_tuning_report(tuning, output / TUNING)
        config = with_settings(config, best_settings(tuning))
    _publish_training(outputs["Trainer"]["model_run"], output / TRAINING, config)
    (blessing,) = outputs["Evaluator"]["blessing"]
    verdict = blessing.get_string_custom_property(VERDICT_KEY)
    (output / EVALUATION / "verdict.json").write_text(verdict, encoding="utf-8")
    pushed = ""
    if experiment is None:
        (model,) = outputs["Pusher"]["pushed_model"]
        pushed = model.get_string_custom_property("pushed_destination")
    return RunResult(
        report=_read_json(output / EVALUATION / "metrics.json"),
        verdict=json.loads(verdict),
        data_report=_read_json(output / DATA / "report.json"),
        tuning=tuning,
        pushed=pushed or None,
        cached=all_cached,
    )


def _read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _publish(artifacts: Sequence[types.Artifact], folder: Path) -> None:
    """Copies an artifact's files to where people look for them."""
    (artifact,) = artifacts
    shutil.copytree(artifact.uri, folder, dirs_exist_ok=True)


def _publish_training(artifacts: Sequence[types.Artifact], folder: Path, config: RunConfig) -> None:
    """Copies a training's history, without TensorBoard's events, and writes what the theory makes of it beside it."""
    (artifact,) = artifacts
    folder.mkdir(exist_ok=True)
    shutil.copy(Path(artifact.uri, HISTORY_FILE), folder)
    (folder / VECTORS_FILE).unlink(missing_ok=True)
    if Path(artifact.uri, VECTORS_FILE).exists():
        shutil.copy(Path(artifact.uri, VECTORS_FILE), folder)
    history = _read_json(folder / HISTORY_FILE)
    step = config.training.learning_rate_in(epoch=1) * config.training.number("embedding_factor")
    report = stability_report(config.model, config.loss, step, history)
    (folder / "stability.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (folder / "stability.md").write_text(describe_stability(report), encoding="utf-8")


def _launch(
    pipeline: tfx_pipeline.Pipeline,
    connection: metadata_store_pb2.ConnectionConfig,
    on_start: Callable[[int, int, str], None],
) -> Iterator[tuple[StageEnd, Outputs]]:
    """Launches the nodes one by one, as TFX's LocalDagRunner does, and tells of each."""
    ir = compiler.Compiler().compile(pipeline)
    runtime_parameter_utils.substitute_runtime_parameter(
        ir, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: datetime.datetime.now().isoformat()}
    )
    outputs: dict[str, Outputs] = {}
    for number, node in enumerate(ir.nodes, 1):
        name = node.pipeline_node.node_info.id
        started = time.monotonic()
        on_start(number, len(ir.nodes), name)
        how, outputs[name] = _launch_node(ir, node.pipeline_node, connection)
        uris = [artifact.uri for some in outputs[name].values() for artifact in some]
        if how == "run":
            record_files(uris)
        if name == "Pusher":
            restored = _restore_pushed(outputs["Trainer"]["model"], outputs[name]["pushed_model"])
        elif restored := not all(map(is_whole, uris)):
            _restore(ir, node.pipeline_node, connection, outputs[name])
        end = StageEnd(number, len(ir.nodes), name, "restored" if restored else how, time.monotonic() - started)
        yield end, outputs[name]


def _launch_node(
    ir: pipeline_pb2.Pipeline,
    node: pipeline_pb2.PipelineNode,
    connection: metadata_store_pb2.ConnectionConfig,
) -> tuple[How, Outputs]:
    """Launches one node: whether it ran, and its output artifacts."""
    deployment = runner_utils.extract_local_deployment_config(ir)
    name = node.node_info.id
    result = launcher.Launcher(
        pipeline_node=node,
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
    return "cached" if cached else "run", outputs


def _restore(
    ir: pipeline_pb2.Pipeline,
    node: pipeline_pb2.PipelineNode,
    connection: metadata_store_pb2.ConnectionConfig,
    lost: Outputs,
) -> None:
    """Repeats a node whose files were lost, and puts them where they were: what follows stays in the cache."""
    again = copy.deepcopy(node)
    again.execution_options.caching_options.enable_cache = False
    # Not in this run's context, where the nodes that follow would find its artifacts.
    for context in again.contexts.contexts:
        if context.type.name == constants.PIPELINE_RUN_CONTEXT_TYPE_NAME:
            context.name.field_value.string_value += "/restored"
    _, outputs = _launch_node(ir, again, connection)
    with metadata.Metadata(connection) as handle:
        for key, artifacts in lost.items():
            for old, new in zip(artifacts, outputs[key], strict=True):
                replace_files(handle.store, old.mlmd_artifact, new.mlmd_artifact)


def _restore_pushed(models: Sequence[types.Artifact], pushed: Sequence[types.Artifact]) -> bool:
    """Puts a pushed version, and the stage's copy of it, back where someone deleted of them; whether that was so.

    Each stands for the other. Only where both are lost comes the Trainer's model in their place: trained again it may
    differ in its bytes, and a version that is served must not change. Pushing anew would give it another number.
    """
    (model,), (copied,) = models, pushed
    version = copied.get_string_custom_property("pushed_destination")
    if not version:
        record_files([copied.uri])
        return False
    copy_is_whole = is_whole(copied.uri)
    if has_record(copied.uri):
        version_is_whole = is_whole(copied.uri, version)
    else:
        version_is_whole = Path(version, "saved_model.pb").is_file()
    if not copy_is_whole:
        place_version(version if version_is_whole else path_utils.serving_model_path(model.uri), copied.uri)
        record_files([copied.uri])
    if not version_is_whole:
        place_version(copied.uri, version)
    return not (copy_is_whole and version_is_whole)


def _link(link: Path, target: Path) -> None:
    """Makes TensorBoard's folder point at the Trainer's runs, so that it can be watched while they last."""
    if link.is_symlink():
        link.unlink()
    if not link.exists():
        os.symlink(target, link)
