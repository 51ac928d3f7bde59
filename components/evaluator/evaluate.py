"""Scores query lists with an exported model, and computes metrics and floors. Never imports TFX."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from components.evaluator.random_order import mean_expected_metrics
from models.exported import load_model
from models.metrics import mean_metrics, per_query_metrics, rank, ranked_grades
from models.settings import METRICS
from models.text_lists import TextList
from schemas.errors import DataError
from schemas.trec import qrels_lines, run_lines

METRICS_FILE: Final = "metrics.json"
RUN_FILE: Final = "run.trec"
QRELS_FILE: Final = "qrels.trec"

TAG = "smooth_clir"

_BATCH_PLACES = 4096
_TIE_ORDERS = 20


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation found.

    Attributes:
      report: the content of `metrics.json`.
      per_query: each metric for each list.
      run, qrels: lines of the two TREC files.
    """

    report: dict[str, Any]
    per_query: dict[str, npt.NDArray[np.float64]]
    run: list[str]
    qrels: list[str]

    def files(self) -> dict[str, str]:
        """The files of an evaluation, by name: the report, and what trec_eval reads."""
        return {
            METRICS_FILE: json.dumps(self.report, indent=2) + "\n",
            RUN_FILE: "".join(self.run),
            QRELS_FILE: "".join(self.qrels),
        }


def score_lists(model_path: str, lists: Sequence[TextList]) -> list[npt.NDArray[np.float32]]:
    """The exported model's score of every document of every list.

    Args:
      model_path: a SavedModel of ours.
      lists: query lists.

    Returns:
      float32 [list_size] for each list.

    Raises:
      DataError: there is no such model.
    """
    score = load_model(model_path, "score").signatures["score"]
    scores: list[npt.NDArray[np.float32]] = []
    for batch in _batches(lists):
        size = max(len(one.doc_texts) for one in batch)
        rows = score(
            query=tf.constant([one.query_text for one in batch]),
            documents=tf.constant([one.doc_texts + [b""] * (size - len(one.doc_texts)) for one in batch]),
        )["scores"].numpy()
        scores.extend(row[: len(one.doc_texts)] for row, one in zip(rows, batch, strict=True))
    return scores


def _batches(lists: Sequence[TextList]) -> Iterator[list[TextList]]:
    """Consecutive lists, as many as their padded size allows, and one at least."""
    batch: list[TextList] = []
    for one in lists:
        size = max(len(some.doc_texts) for some in [*batch, one])
        if batch and size * (len(batch) + 1) > _BATCH_PLACES:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def evaluate(
    lists: Sequence[TextList],
    scores: Sequence[npt.NDArray[np.float32]],
    baselines: Mapping[str, Mapping[str, Mapping[str, float]]],
    top_grade: int,
    split: str = "test",
) -> Evaluation:
    """Metrics and floors of a model's scores.

    Args:
      lists: those of the split.
      scores: the model's, for each list.
      baselines: name to run (query_id to doc_id to score) of other systems on the same lists.
      top_grade: the MR grade.
      split: its name, for the report.

    Raises:
      DataError: a score is not finite, or a baseline lacks a list.
    """
    grades = [one.grades for one in lists]
    per_query = score_metrics(lists, scores, top_grade)
    floors = {"random": mean_expected_metrics(grades, top_grade)}
    for name, run in baselines.items():
        floors[name] = _tie_free_metrics(lists, [_run_scores(name, run, one) for one in lists], top_grade)
    ideal = mean_metrics([np.sort(list_grades)[::-1] for list_grades in grades], top_grade)
    run_file: list[str] = []
    qrels: list[str] = []
    for one, list_scores in zip(lists, scores, strict=True):
        query_id = one.query_id.decode()
        order = rank(list_scores, one.doc_ids)
        ranked_ids = [one.doc_ids[place].decode() for place in order]
        run_file += run_lines(query_id, ranked_ids, [float(score) for score in list_scores[order]], TAG)
        qrels += qrels_lines(query_id, [doc_id.decode() for doc_id in one.doc_ids], one.grades.tolist())
    report = {
        "split": split,
        "queries": len(lists),
        "queries_without_relevant_document": sum(int((list_grades < 1).all()) for list_grades in grades),
        "paper_names": METRICS,
        "metrics": {key: float(values.mean()) for key, values in per_query.items()},
        "reachable": ideal,
        "floors": floors,
    }
    return Evaluation(report, per_query, run_file, qrels)


def score_metrics(
    lists: Sequence[TextList], scores: Sequence[npt.NDArray[np.float32]], top_grade: int
) -> dict[str, npt.NDArray[np.float64]]:
    """Every metric of a model's scores for every list, see `models.metrics.per_query_metrics`."""
    query_ids, doc_ids = [one.query_id for one in lists], [one.doc_ids for one in lists]
    ranked = ranked_grades(query_ids, doc_ids, scores, [one.grades for one in lists])
    return per_query_metrics(ranked, top_grade)


def _tie_free_metrics(
    lists: Sequence[TextList], scores: Sequence[npt.NDArray[np.float32]], top_grade: int
) -> dict[str, float]:
    """Metrics of a baseline, as the mean over random orders of the documents that it cannot tell apart.

    BM25 gives most documents 0 here, and neighbouring ids are often related: ties broken by id would rank by the ids.
    """
    generator = np.random.default_rng(0)
    draws = []
    for _ in range(_TIE_ORDERS):
        ranked = [
            one.grades[rank(list_scores, generator.permutation(len(list_scores)).tolist())]
            for one, list_scores in zip(lists, scores, strict=True)
        ]
        draws.append(mean_metrics(ranked, top_grade))
    return {key: float(np.mean([draw[key] for draw in draws])) for key in draws[0]}


def _run_scores(name: str, run: Mapping[str, Mapping[str, float]], one: TextList) -> npt.NDArray[np.float32]:
    """A run's scores in a list's own order."""
    ranked = run.get(one.query_id.decode(), {})
    missing = [doc_id.decode() for doc_id in one.doc_ids if doc_id.decode() not in ranked]
    if missing:
        raise DataError(f"run {name} must rank every document of query {one.query_id.decode()}; it lacks {missing[0]}.")
    return np.asarray([ranked[doc_id.decode()] for doc_id in one.doc_ids], np.float32)
