"""Runs the pipeline in this process, with SQLite metadata, and lays its results out under one folder."""

import json
import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ml_metadata.proto import metadata_store_pb2
from tfx.orchestration import metadata

import schemas
from components.index_pusher.index_versions import IndexVersions
from components.trainer.workers import joined_cluster
from components.wikiclir_example_gen.report import REPORT_FILE, DataReport
from models.training.devices import configure_devices
from models.tuning.results import SearchResults
from pipeline.beam_settings import beam_arguments, check_local_beam
from pipeline.config import RunConfig, dump_config
from pipeline.launching import Outputs, launch
from pipeline.layout import (
    ARTIFACTS,
    CONFIG_FILE,
    DATA,
    EVALUATION,
    INDEX,
    LEXICON,
    METADATA_FILE,
    SERVING,
    TUNING,
)
from pipeline.output_folder import OutputFolder
from pipeline.pipeline import ALWAYS_RUN, create_pipeline
from pipeline.publishing import publish
from pipeline.recovery import recover
from pipeline.stages import StageEnd
from pipeline.tensorboard_links import TensorBoardLinks
from schemas.errors import ConfigError, DataError
from schemas.evaluation import METRICS_FILE, VERDICT_FILE, EvaluationReport, Verdict
from schemas.lexicon_report import LexiconReport
from schemas.search_report import SEARCH_FILE, SearchReport
from schemas.served_versions import DESTINATION_PROPERTY, PUSHED_PROPERTY, newest_version

log = logging.getLogger("clir.run")

_SCHEMA_FILE = str(Path(schemas.__file__).parent / "schema.pbtxt")


class RunResult(NamedTuple):
    """What a run left."""

    report: EvaluationReport
    verdict: Verdict
    data_report: DataReport | None
    """`data/report.json`; None in an experiment."""
    lexicon_report: LexiconReport | None
    """`lexicon/report.json`; None in an experiment, and without a lexicon."""
    tuning: SearchResults | None
    """`tuning/results.json`; None without a search."""
    search: SearchReport | None
    """`evaluation/search.json`; None in an experiment, and without an index."""
    pushed: str | None
    """Folder of the version that is this model; None where the gate refused the model, and in an experiment."""
    was_pushed: bool
    """Whether that version was there before."""
    newest: str | None
    """Folder of the newest version when the run ended, whichever model that is; None where there is none."""
    cached: bool
    """Whether every stage came from the cache, but for those that decide anew on every run."""


def run_locally(
    config: RunConfig,
    on_start: Callable[[int, int, str], None],
    on_end: Callable[[StageEnd], None],
    experiment: Path | None = None,
) -> RunResult:
    """Runs every stage that the cache does not hold, in order.

    The caller holds the output folder (see `pipeline.output_folder`).

    Args:
      config: resolved, with the digests of its inputs.
      on_start: called with (number, total, name) when a stage starts.
      on_end: called when a stage is done.
      experiment: folder of the experiment that this run is a cell of, if any: its artifacts and metadata are shared by
        all cells, and no model is pushed.

    Returns:
      the run's results, which stand under `config.output`, too.

    Raises:
      DataError: the folder holds what is not ours, the metadata are damaged, or a stage refuses the data.
      ConfigError: the devices do not fit the settings, TF_CONFIG names a cluster, or the Beam runner is none for local
        runs.
    """
    if cluster := joined_cluster(config.training):
        raise ConfigError(
            [
                f"TF_CONFIG must be unset, for a run starts its own workers (training.workers); it names a cluster of "
                f"{cluster.workers}, which the Trainer alone can join: see docs/workers.md."
            ]
        )
    check_local_beam(config.beam)
    folder = OutputFolder(Path(config.output), "cell" if experiment else "run")
    store = experiment or folder.path
    if config.search.index:
        IndexVersions(store / INDEX).check()  # now, not after an hour of training
    folder.write(CONFIG_FILE, dump_config(config))
    configure_devices(config.training, config.model.encoder)
    connection = _open_store(store)
    pipeline = create_pipeline(
        config,
        pipeline_root=str(store / ARTIFACTS),
        schema_path=_SCHEMA_FILE,
        serving_path=str(store / SERVING),
        index_path=str(store / INDEX),
        cell=folder.path.name if experiment else None,
        metadata_connection_config=connection,
        enable_cache=True,
    )
    outputs: dict[str, Outputs] = {}
    cached = True
    links = TensorBoardLinks(store)
    names = _tensorboard_names(config, folder.path.name if experiment else None)

    def on_outputs(stage: str, artifacts: Outputs) -> None:
        if stage in names:
            (run,) = artifacts["model_run"]
            links.show(names[stage], Path(run.uri))

    for end, stage_outputs in launch(pipeline, connection, on_start, on_outputs, beam_arguments(config.beam)):
        outputs[end.name] = stage_outputs
        cached = cached and (end.how == "cached" or end.name in ALWAYS_RUN)
        on_end(end)
    publish(outputs, folder, is_cell=experiment is not None)
    tuning = _search_results(folder.path) if "Tuner" in outputs else None
    if tuning:
        folder.write(CONFIG_FILE, dump_config(config, tuning.best.settings))
    (blessing,) = outputs["Gate"]["blessing"]
    pushed = ""
    if experiment is None:
        (model,) = outputs["Pusher"]["pushed_model"]
        pushed = model.get_string_custom_property(DESTINATION_PROPERTY)
    serving = store / SERVING
    newest = newest_version(os.listdir(serving)) if serving.is_dir() else None
    evaluation = folder.path / ("" if experiment else EVALUATION)
    lexicon = folder.path / LEXICON / REPORT_FILE
    search = evaluation / SEARCH_FILE
    return RunResult(
        report=EvaluationReport.from_json((evaluation / METRICS_FILE).read_text(encoding="utf-8")),
        verdict=Verdict.from_json((evaluation / VERDICT_FILE).read_text(encoding="utf-8")),
        data_report=None if experiment else DataReport.from_dict(_read_json(folder.path / DATA / REPORT_FILE)),
        lexicon_report=LexiconReport.from_json(lexicon.read_text(encoding="utf-8")) if lexicon.is_file() else None,
        tuning=tuning,
        search=SearchReport.from_json(search.read_text(encoding="utf-8")) if search.is_file() else None,
        pushed=pushed or None,
        was_pushed=bool(blessing.get_int_custom_property(PUSHED_PROPERTY)),
        newest=newest and str(serving / newest),
        cached=cached,
    )


def _open_store(store: Path) -> metadata_store_pb2.ConnectionConfig:
    """Makes the store one that a run can begin with."""
    path = store / METADATA_FILE
    if path.exists():
        _check_metadata(path)
    connection = metadata.sqlite_metadata_connection_config(str(path))
    with metadata.Metadata(connection) as handle:
        if recover(handle.store, store / ARTIFACTS, superseded=ALWAYS_RUN):
            log.info("%s was moved or copied: its artifacts belong to another folder, and its stages run anew", store)
    return connection


def _check_metadata(path: Path) -> None:
    """Refuses a database that is none, or is damaged."""
    try:
        with closing(sqlite3.connect(path)) as database:
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise DataError(
            f"{path} must hold the metadata of earlier runs, and cannot be used ({found}); move it away, and run "
            "again: the stages run anew."
        )


def _search_results(output: Path) -> SearchResults:
    return SearchResults.from_json((output / TUNING / "results.json").read_text(encoding="utf-8"))


def _read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _tensorboard_names(config: RunConfig, cell: str | None) -> dict[str, str]:
    """What TensorBoard calls the run of each stage that trains: its collection, settings and seed."""
    data = config.data
    collection = Path(data.queries).parent.name if data.queries else f"{data.query_language}_{data.document_language}"
    seed = f"seed{config.training.seed}"
    return {
        "Trainer": f"{collection}-{cell or f'{config.preset}-{seed}'}",
        "PaperTrainer": f"{collection}-{cell or ''}paper-{seed}",
    }
