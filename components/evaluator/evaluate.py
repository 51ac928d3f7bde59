"""The metrics of a model's scores, and the floors beside them. Never imports TFX."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from components.evaluator.random_order import mean_expected_metrics
from models.lists import RankingLists
from models.metrics import mean_metrics, rank
from models.score_lists import score_metrics
from models.settings import METRICS
from schemas.errors import DataError
from schemas.evaluation_files import METRICS_FILE, QRELS_FILE, RUN_FILE
from schemas.trec import qrels_lines, run_lines

TAG = "smooth_clir"

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


def evaluate(
    lists: RankingLists,
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
    per_query = score_metrics(lists, scores, top_grade)
    floors = {"random": mean_expected_metrics(lists.grades, top_grade)}
    for name, run in baselines.items():
        floors[name] = _tie_free_metrics(lists, _run_scores(name, run, lists), top_grade)
    ideal = mean_metrics([np.sort(grades)[::-1] for grades in lists.grades], top_grade)
    run_file: list[str] = []
    qrels: list[str] = []
    for query, ids, grades, list_scores in zip(lists.query_ids, lists.doc_ids, lists.grades, scores, strict=True):
        query_id, doc_ids = query.decode(), [doc_id.decode() for doc_id in ids]
        order = rank(list_scores, ids)
        ranked_ids = [doc_ids[place] for place in order]
        run_file += run_lines(query_id, ranked_ids, [float(score) for score in list_scores[order]], TAG)
        qrels += qrels_lines(query_id, doc_ids, grades.tolist())
    report = {
        "split": split,
        "queries": len(lists),
        "queries_without_relevant_document": sum(int((grades < 1).all()) for grades in lists.grades),
        "paper_names": METRICS,
        "metrics": {key: float(values.mean()) for key, values in per_query.items()},
        "reachable": ideal,
        "floors": floors,
    }
    return Evaluation(report, per_query, run_file, qrels)


def _tie_free_metrics(
    lists: RankingLists, scores: Sequence[npt.NDArray[np.float32]], top_grade: int
) -> dict[str, float]:
    """Metrics of a baseline, as the mean over random orders of the documents that it cannot tell apart.

    BM25 gives most documents 0 here, and neighbouring ids are often related: ties broken by id would rank by the ids.
    """
    generator = np.random.default_rng(0)
    draws = []
    for _ in range(_TIE_ORDERS):
        ranked = [
            grades[rank(list_scores, generator.permutation(len(list_scores)).tolist())]
            for grades, list_scores in zip(lists.grades, scores, strict=True)
        ]
        draws.append(mean_metrics(ranked, top_grade))
    return {key: float(np.mean([draw[key] for draw in draws])) for key in draws[0]}


def _run_scores(
    name: str, run: Mapping[str, Mapping[str, float]], lists: RankingLists
) -> list[npt.NDArray[np.float32]]:
    """A run's scores in the lists' own order."""
    scores = []
    for query_id, doc_ids in zip(lists.query_ids, lists.doc_ids, strict=True):
        ranked = run.get(query_id.decode(), {})
        names = [doc_id.decode() for doc_id in doc_ids]
        missing = [doc_id for doc_id in names if doc_id not in ranked]
        if missing:
            raise DataError(f"run {name} must rank every document of query {query_id.decode()}; it lacks {missing[0]}.")
        scores.append(np.asarray([ranked[doc_id] for doc_id in names], np.float32))
    return scores
