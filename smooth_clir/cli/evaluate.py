"""`clir evaluate`: evaluates an exported model on a collection with fixed lists, without the pipeline."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from components.wikiclir_example_gen.settings import DataSettings
from pipeline.input_faults import check_collection
from pipeline.input_files import files_of
from pipeline.machine import check_machine, check_temporary_folder_for_patterns
from pipeline.output_path import local_fault
from schemas.errors import ConfigError
from schemas.splits import SPLITS
from smooth_clir.cli.arguments import feedback_option, json_option, model_argument
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import find_model
from smooth_clir.cli.summary import metrics_table
from smooth_clir.cli.terminal import StageView, show, show_json

if TYPE_CHECKING:
    from components.wikiclir_example_gen.report import DataReport
    from models.evaluation.evaluate_lists import Evaluation


@click.command()
@model_argument
@click.option("--queries", required=True, metavar="FILE", help="Queries: id, title, text.")
@click.option("--documents", required=True, metavar="FILE", help="Documents: id, title, text.")
@click.option("--candidates", required=True, metavar="FILE", help="Lists: query id, document id, grade, split.")
@click.option("--split", default="test", show_default=True, type=click.Choice(SPLITS), help="The split to evaluate.")
@click.option(
    "--top-grade", default=2, show_default=True, type=click.IntRange(min=1, max=100), help="The grade of MR documents."
)
@feedback_option
@click.option("--output", metavar="FOLDER", help="Write metrics.json, per_query.tsv, run.trec and qrels.trec there.")
@json_option
def evaluate(
    model: str,
    queries: str,
    documents: str,
    candidates: str,
    split: str,
    top_grade: int,
    gain: float | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Evaluate an exported MODEL on any collection with fixed lists.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir evaluate runs/en_es --queries en.queries --documents es.documents --candidates en2es.candidates
    """
    path = find_model(model)
    paths = {"queries": queries, "documents": documents, "candidates": candidates}
    faults = [f"--{role}: {fault}" for role, fault in check_collection(paths)]
    if output is not None and (fault := local_fault(output, "folder")):
        faults.append(f"--output: {fault}")
    if faults:
        raise ConfigError(faults)
    check_machine()
    check_temporary_folder_for_patterns()
    with StageView() as view:
        view.start(0, 0, "evaluating")
        result, data_report = _evaluate(path, paths, split, top_grade, gain)
        for line in data_report.describe():
            view.say(line)
        for warning in result.report.warnings:
            view.say(f"warning: {warning}")
    if output:
        Path(output).mkdir(parents=True, exist_ok=True)
        for name, content in result.files().items():
            (Path(output) / name).write_text(content, encoding="utf-8")
    if as_json:
        show_json({**result.report.model_dump(), "data": data_report.as_dict()})
    else:
        show(metrics_table(result.report))


def _evaluate(
    model: str, paths: Mapping[str, str], split: str, top_grade: int, gain: float | None
) -> "tuple[Evaluation, DataReport]":
    """Reads a collection as the pipeline does, and evaluates a split's lists.

    Raises:
      DataError: the files have too many bad records (see `DataReport.check`), or the model cannot be loaded.
    """
    with heavy_imports():
        import apache_beam as beam

        from components.collection_gen.write_collection import write_collection
        from components.passage_gen.write_passages import write_passages
        from components.wikiclir_example_gen.ingest import ingest
        from components.wikiclir_example_gen.lists import IngestSettings
        from components.wikiclir_example_gen.report import DataReport
        from models.choices import SCORES
        from models.evaluation.evaluate_lists import evaluate
        from models.evaluation.score_lists import score_lists
        from models.exported.model import LoadedModel
        from models.lists.ranking_lists import read_lists

    loaded, texts = LoadedModel(model), None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as passages_folder:
        report_path = os.path.join(folder, "report.json")
        files = {role: files_of(path) for role, path in paths.items()}
        roles = write_collection(files, {}, top_grade, folder)
        if loaded.passages:
            texts = passages_folder, write_passages(folder, passages_folder, *loaded.passages)
        # With candidates, no documents are sampled.
        settings = IngestSettings(negatives=0, seed=0, max_queries=None, top_grade=top_grade)
        splits = {name: os.path.join(folder, name) for name in SPLITS}
        with beam.Pipeline() as pipeline:
            ingest(pipeline, settings, folder, roles, splits, report_path, texts)
        report = DataReport.from_json(Path(report_path).read_text(encoding="utf-8"))
        report.check(DataSettings.model_fields["max_bad_share"].default, [split])
        lists = read_lists(map(str, Path(folder).glob(f"{split}-*")))
    feedback = loaded.second_pass(gain)
    scores = score_lists(model, lists, gain)
    return evaluate(lists, scores.pop(SCORES), {}, top_grade, split=split, channels=scores, feedback=feedback), report
