"""`clir replay`: compares the ranking of a served model with its evaluation."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pydantic

from components.wikiclir_example_gen.settings import DataSettings
from pipeline.config import RunConfig
from pipeline.input_faults import check_collection
from pipeline.input_files import files_of, sha256_of_file
from pipeline.layout import CONFIG_FILE, EVALUATION, SERVING
from pipeline.settings_file import read_settings_file
from schemas.byte_streams import input_digest
from schemas.errors import ConfigError, DataError
from schemas.evaluation import METRICS_FILE, RUN_FILE, VERDICT_FILE, EvaluationReport, Verdict
from schemas.served_versions import MODEL_NAME, newest_version
from schemas.trec import parse_run
from smooth_clir.cli.arguments import json_option
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import find_model
from smooth_clir.cli.terminal import say, show, show_json

if TYPE_CHECKING:
    from models.exported.model import ExportedModel
    from smooth_clir.serving.score_replay import Inversion

_SHOWN = 5
_REMEDY = "put it back, or run the configuration again"


@click.command()
@click.argument("output", type=click.Path())
@click.option("--rest", metavar="URL", help="Ask a TF Serving over its REST API, such as http://localhost:8501.")
@click.option("--grpc", metavar="ADDRESS", help="Ask a TF Serving over gRPC, such as localhost:8500.")
@click.option("--model-name", default=MODEL_NAME, show_default=True, help="The model's name in the TF Serving.")
@json_option
def replay(output: str, rest: str | None, grpc: str | None, model_name: str, as_json: bool) -> None:
    """Check that a served model ranks the test lists as it did in the evaluation.

    OUTPUT is a run's output folder. Its queries and documents are read and scored again, list by list, by a TF Serving
    or, without an address, by the pushed model in this process. The check fails if two documents whose scores differ by
    more than 1e-6 have another order.

    Example: clir replay runs/sample --grpc localhost:8500
    """
    if rest and grpc:
        raise click.UsageError("give --rest or --grpc, but not both.")
    folder = Path(output)
    run, report = _read_run(folder)
    data, files = _input_files(folder)
    verdict = Verdict.read(folder / EVALUATION / VERDICT_FILE, _REMEDY)
    pushed = newest_version(os.listdir(folder / SERVING)) if (folder / SERVING).is_dir() else None
    with heavy_imports():
        from components.wikiclir_example_gen.query_words import draw_query_words
        from models.lists.feedback import Feedback
        from smooth_clir.serving.score_replay import read_texts, replay_scores

        model = _model_of(output, rest, grpc, model_name)
    if not verdict.blessed:
        say(f"the gate refused the evaluated model ({verdict.reason}): the served model is another one")
    if pushed != model.version:
        say(f"the served version is {model.version}, but the newest in {folder / SERVING} is {pushed or 'none'}")
    doc_ids = {doc_id for ranked in run.values() for doc_id in ranked}
    queries = read_texts("queries", files["queries"], run.keys())
    if data.query_words is not None:
        queries = draw_query_words(queries, data.query_words, data.seed, data.segmented)
    documents = read_texts("documents", files["documents"], doc_ids)
    feedback = Feedback(report.feedback, report.feedback_documents)
    model.check_second_pass(feedback)
    replayed = replay_scores(model, run, queries, documents, feedback)
    if as_json:
        show_json({"version": model.version, "pushed_version": pushed, "blessed": verdict.blessed, **asdict(replayed)})
    else:
        show(
            f"version {model.version}: {replayed.lists:,} lists, {replayed.documents:,} documents; largest difference "
            f"of a score {replayed.largest_difference:.2g}"
        )
    if replayed.inversions:
        raise DataError("\n".join(_describe(replayed.inversions, replayed.lists)))
    if not as_json:
        show("every list is in the evaluator's order")


def _model_of(output: str, rest: str | None, grpc: str | None, name: str) -> "ExportedModel":
    if rest:
        from smooth_clir.serving.tf_serving_client import TfServingRestModel

        return TfServingRestModel(rest, name)
    if grpc:
        from smooth_clir.serving.tf_serving_client import TfServingModel

        return TfServingModel(grpc, name)
    from models.exported.model import LoadedModel

    return LoadedModel(find_model(output))


def _read_run(folder: Path) -> tuple[dict[str, dict[str, float]], EvaluationReport]:
    """Reads the evaluator's scores, query_id to doc_id to score, and its report."""
    path = folder / EVALUATION / RUN_FILE
    if not path.is_file():
        raise DataError(f"{folder} must be a run's output folder; {path}, which `clir run` writes, is missing.")
    report = EvaluationReport.read(path.parent / METRICS_FILE, _REMEDY)
    with path.open(encoding="utf-8") as lines:
        return parse_run(lines, str(path)).scores, report


def _input_files(folder: Path) -> tuple[DataSettings, dict[str, list[str]]]:
    """Returns the run's settings of the data, and its files of queries and documents; checks their digests."""
    path = folder / CONFIG_FILE
    content, _, faults = read_settings_file(str(path), RunConfig)
    if faults:
        raise ConfigError(faults)
    try:
        config = RunConfig.model_validate(content)
    except pydantic.ValidationError as error:
        raise DataError(f"{path} must be a run's resolved configuration: {error.errors()[0]['msg']}.") from None
    data, paths = config.data, config.text_paths()
    if faults := [f"{path}: data.{role}: {fault}" for role, fault in check_collection(paths)]:
        raise ConfigError(faults)
    files = {role: files_of(path) for role, path in paths.items()}
    for role, role_files in files.items():
        if getattr(data.sha256, role) not in (None, input_digest([sha256_of_file(file) for file in role_files])):
            raise DataError(f"data.{role}: {paths[role]} has changed since {folder} was made.")
    return data, files


def _describe(inversions: "list[Inversion]", lists: int) -> list[str]:
    """Returns a sentence for each of the first lists."""
    lines = [
        f"query {query_id}: the evaluator has document {above.doc_id} ({above.evaluated:.9g}) above {below.doc_id} "
        f"({below.evaluated:.9g}); the served model has {below.doc_id} ({below.served:.9g}) above {above.doc_id} "
        f"({above.served:.9g})."
        for query_id, above, below in (
            (inversion.query_id, inversion.above, inversion.below) for inversion in inversions[:_SHOWN]
        )
    ]
    more = len(inversions) - len(lines)
    summary = f"{len(inversions):,} of {lists:,} lists are in another order."
    return [summary, *lines, *([f"... and {more:,}"] if more else [])]
