"""Runs the pipeline in this process, with SQLite metadata, and lays its results out under one folder."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ml_metadata.proto import metadata_store_pb2

from components.wikiclir_example_gen.report import DataReport
from models.training.cluster import joined_cluster
from models.training.devices import configure_devices
from models.tuning.results import SearchResults
from pipeline.beam_settings import check_local_beam
from pipeline.config import RunConfig
from pipeline.config_file import dump_config
from pipeline.encoder_identity import with_fingerprint
from pipeline.launching import launch
from pipeline.layout import (
    ARTIFACTS,
    CHECKPOINTS,
    CONFIG_FILE,
    DATA,
    EVALUATION,
    INDEX,
    LEXICON,
    SERVING,
    TEXT_VECTORS,
    TRAINING,
    TUNING,
)
from pipeline.output_folder import OutputFolder
from pipeline.pipeline import create_pipeline
from pipeline.publishing import TensorBoardLinks, publish
from pipeline.recovery import open_store
from pipeline.stages import ALWAYS_RUN, Outputs, StageEnd
from pipeline.translator_identity import with_translator_probes
from schemas.drops import REPORT_FILE
from schemas.errors import ConfigError
from schemas.evaluation import METRICS_FILE, VERDICT_FILE, EvaluationReport, Verdict
from schemas.lexicon_report import LexiconReport
from schemas.search_report import SEARCH_FILE, SearchReport
from schemas.served_versions import DESTINATION_PROPERTY, PUSHED_PROPERTY, newest_version
from schemas.training_history import HISTORY_FILE, TrainingHistory
from smooth_clir.retrieval.index_versions import IndexVersions
from smooth_clir.retrieval.milvus_versions import MilvusVersions


class RunResult(NamedTuple):
    """The results of a run."""

    report: EvaluationReport
    verdict: Verdict
    data_report: DataReport | None
    """`data/report.json`; None in an experiment."""
    training: TrainingHistory | None
    """`training/training.json`; None in an experiment."""
    lexicon_report: LexiconReport | None
    """`lexicon/report.json`; None in an experiment, and without a lexicon."""
    tuning: SearchResults | None
    """`tuning/results.json`; None without a search."""
    search: SearchReport | None
    """`evaluation/search.json`; None in an experiment, and without an index."""
    pushed: str | None
    """Folder of this model's version; None if the gate refused the model, and in an experiment."""
    was_pushed: bool
    """Whether that version was pushed by an earlier run."""
    newest: str | None
    """Folder of the newest version when the run ended, of this model or another; None if there is no version."""
    cached: bool
    """Whether every stage came from the cache, except the stages that run on every run."""


class _Run(NamedTuple):
    """A run's settings and folders."""

    config: RunConfig
    """With the fingerprint of an encoder's endpoint and the probe of a translator, if it has them."""
    folder: OutputFolder
    store: Path
    """The folder of artifacts and metadata: an experiment's, or the run's own."""
    cell: str | None
    """Name of the run's cell in an experiment, if any."""
    connection: metadata_store_pb2.ConnectionConfig


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
      experiment: folder of the experiment that this run is a cell of, if any. All cells share its artifacts and
        metadata, and no model is pushed.

    Returns:
      the run's results, which also stand under `config.output`.

    Raises:
      DataError: the folder holds files of others, the metadata are damaged, or a stage refuses the data.
      ConfigError: the devices do not fit the settings, TF_CONFIG names a cluster, or the Beam runner cannot run
        locally.
    """
    run = _prepare(config, experiment)
    config = run.config
    pipeline = create_pipeline(
        config,
        pipeline_root=str(run.store / ARTIFACTS),
        serving_path=str(run.store / SERVING),
        index_path=str(run.store / INDEX),
        cell=run.cell,
        metadata_connection_config=run.connection,
        enable_cache=True,
    )
    links, names = TensorBoardLinks(run.store), _tensorboard_names(config, run.cell)

    def show_training(stage: str, artifacts: Outputs) -> None:
        if stage in names:
            links.show(names[stage], artifacts)

    outputs: dict[str, Outputs] = {}
    cached = True
    for end, made in launch(pipeline, run.connection, on_start, show_training, config.beam.arguments()):
        outputs[end.name] = made
        cached = cached and (end.how == "cached" or end.name in ALWAYS_RUN)
        on_end(end)
    publish(outputs, run.folder, is_cell=run.cell is not None)
    return _result(config, run, outputs, cached)


def _prepare(config: RunConfig, experiment: Path | None) -> _Run:
    """Refuses settings that a local run cannot have, sets up the devices, and opens output folder and store."""
    if cluster := joined_cluster(config.training):
        raise ConfigError(
            [
                f"TF_CONFIG must be unset, because a run starts its own workers (training.workers); got a cluster of "
                f"{cluster.workers} workers, which only a Trainer can join: see docs/machines.md."
            ]
        )
    check_local_beam(config.beam)
    folder = OutputFolder(Path(config.output), "cell" if experiment else "run")
    store = experiment or folder.path
    if config.search.index:
        IndexVersions(store / INDEX).check_free()  # now, not after an hour of training
        if config.search.engine == "milvus":
            MilvusVersions(config.search.milvus)
    config = with_fingerprint(config, store / ARTIFACTS / f"{CHECKPOINTS}.{TEXT_VECTORS}")
    config = with_translator_probes(config)
    folder.write(CONFIG_FILE, dump_config(config))
    configure_devices(config.training, config.channels.towers)
    return _Run(config, folder, store, folder.path.name if experiment else None, open_store(store))


def _result(config: RunConfig, run: _Run, outputs: Mapping[str, Outputs], cached: bool) -> RunResult:
    """Reads the published results; after a search, adds the best numbers to the published configuration."""
    folder, is_cell = run.folder.path, run.cell is not None
    evaluation = folder / ("" if is_cell else EVALUATION)

    def content(path: Path) -> str:
        return path.read_text(encoding="utf-8")

    tuning = None
    if "Tuner" in outputs:
        tuning = SearchResults.from_json(content(folder / TUNING / "results.json"))
        run.folder.write(CONFIG_FILE, dump_config(config, tuning.best.settings))
    pushed = ""
    if not is_cell:
        (model,) = outputs["Pusher"]["pushed_model"]
        pushed = model.get_string_custom_property(DESTINATION_PROPERTY)
    (blessing,) = outputs["Gate"]["blessing"]
    serving = run.store / SERVING
    newest = newest_version(os.listdir(serving)) if serving.is_dir() else None
    lexicon, search = folder / LEXICON / REPORT_FILE, evaluation / SEARCH_FILE
    return RunResult(
        report=EvaluationReport.from_json(content(evaluation / METRICS_FILE)),
        verdict=Verdict.from_json(content(evaluation / VERDICT_FILE)),
        data_report=None if is_cell else DataReport.from_json(content(folder / DATA / REPORT_FILE)),
        training=None if is_cell else TrainingHistory.from_json(content(folder / TRAINING / HISTORY_FILE)),
        lexicon_report=LexiconReport.from_json(content(lexicon)) if lexicon.is_file() else None,
        tuning=tuning,
        search=SearchReport.from_json(content(search)) if search.is_file() else None,
        pushed=pushed or None,
        was_pushed=bool(blessing.get_int_custom_property(PUSHED_PROPERTY)),
        newest=newest and str(serving / newest),
        cached=cached,
    )


def _tensorboard_names(config: RunConfig, cell: str | None) -> dict[str, str]:
    """Each training stage to the name of its run in TensorBoard: collection, settings and seed."""
    data = config.data
    collection = Path(data.queries).parent.name if data.queries else f"{data.query_language}_{data.document_language}"
    seed = f"seed{config.training.seed}"
    return {
        "Trainer": f"{collection}-{cell or f'{config.preset}-{seed}'}",
        "Tuner": f"{collection}-{cell or f'{config.preset}-{seed}'}-search",
        "PaperTrainer": f"{collection}-{cell or ''}paper-{seed}",
    }
