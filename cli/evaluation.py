"""Evaluates an exported model on a collection with fixed candidates, without the pipeline."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import apache_beam as beam
import tensorflow as tf

from components.collection_gen.write_collection import write_collection
from components.evaluator.evaluate import Evaluation, evaluate
from components.wikiclir_example_gen.ingest import IngestSettings, ingest
from components.wikiclir_example_gen.report import DataReport, read_report
from models.evaluation.score_lists import score_lists
from models.lists.ranking_lists import read_lists
from models.rankers.ranker import SCORES
from pipeline.input_files import files_of
from schemas.features import SPLITS


def evaluate_model(
    model: str, paths: Mapping[str, str], split: str, top_grade: int, feedback: float, max_bad_share: float
) -> tuple[Evaluation, DataReport]:
    """Reads a collection as the pipeline does, and scores one split's lists.

    Args:
      model: folder of a SavedModel of ours.
      paths: files of the roles queries, documents and candidates.
      split: whose lists count.
      top_grade: the MR grade.
      feedback: gain of the model's second pass, see `models.retrieval.document_ranker`; 0 for none.
      max_bad_share: see `DataSettings`.

    Returns:
      the evaluation, and the report of the files.

    Raises:
      DataError: the files are too bad (see `DataReport.check`), or the model cannot be loaded.
    """
    with tempfile.TemporaryDirectory() as folder:
        report_path = os.path.join(folder, "report.json")
        files = {role: files_of(path) for role, path in paths.items()}
        roles = write_collection(files, {}, top_grade, folder, tf.io.gfile.GFile)
        # No documents are sampled where there are candidates.
        settings = IngestSettings(negatives=0, seed=0, max_queries=None, top_grade=top_grade)
        with beam.Pipeline() as pipeline:
            ingest(
                pipeline, settings, folder, roles, {name: os.path.join(folder, name) for name in SPLITS}, report_path
            )
        report = read_report(Path(report_path).read_text(encoding="utf-8"))
        report.check(max_bad_share, [split])
        lists = read_lists(map(str, Path(folder).glob(f"{split}-*")))
    scores = score_lists(model, lists, feedback)
    return evaluate(lists, scores.pop(SCORES), {}, top_grade, split, channels=scores, feedback=feedback), report
