"""The metrics of scores of query lists."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.evaluation.metrics import MEASURES, METRICS, Metric
from models.lists.ranking_lists import RankingLists
from models.tf_ranking import metrics_impl
from schemas.errors import DataError
from schemas.relevance import PADDING_LABEL

_CELLS_AT_ONCE: Final = 2**22
"""Number of documents, including padding, whose metrics are computed at once; bounds the memory for long lists."""


def list_metrics(
    lists: RankingLists,
    scores: Sequence[npt.NDArray[Any]],
    top_grade: int,
    keys: Collection[str] | None = None,
) -> dict[str, npt.NDArray[np.float64]]:
    """The values of metrics for each list, in which a document has its best passage's score; see `per_query_metrics`.

    Raises:
      DataError: a score is NaN or infinite.
    """
    for query_id, doc_ids, list_scores in zip(lists.query_ids, lists.doc_ids, scores, strict=True):
        finite = np.isfinite(list_scores)
        if not finite.all():
            column = int(np.argmin(finite))
            raise DataError(
                f"scores must be finite; query {query_id.decode()} got {list_scores[column]} for document "
                f"{doc_ids[column].decode()}. The model has diverged: lower training.learning_rate or raise "
                "channels.towers.epsilon."
            )
    return per_query_metrics(lists.whole_documents.grades, lists.best_passages(scores), top_grade, keys)


def per_query_metrics(
    grades: Sequence[npt.NDArray[np.int64]],
    scores: Sequence[npt.NDArray[Any]],
    top_grade: int,
    keys: Collection[str] | None = None,
) -> dict[str, npt.NDArray[np.float64]]:
    """The values of metrics for each query.

    Args:
      grades: the grades of each query's documents.
      scores: the scores of the same documents, compared as float32; equal scores have no order.
      top_grade: the MR grade.
      keys: the metrics; None for `METRICS`.

    Returns:
      key -> float [queries].
    """
    metrics = {key: Metric.parse(key) for key in (METRICS if keys is None else keys)}
    size = max([metric.cutoff or 0 for metric in metrics.values()] + [len(list_grades) for list_grades in grades])
    rows = max(1, _CELLS_AT_ONCE // size)
    parts: dict[str, list[npt.NDArray[np.float64]]] = {key: [] for key in metrics}
    for start in range(0, max(len(grades), 1), rows):
        ranked, tied = _ranked(grades[start : start + rows], scores[start : start + rows], size)
        order = tf.constant(np.broadcast_to(np.arange(size, 0, -1, dtype=np.float32), ranked.shape))
        for key, metric in metrics.items():
            labels = tf.constant(metric.labels(ranked, top_grade))
            computed, _ = (
                MEASURES[metric.measure].formula.tf_ranking(metrics_impl, metric.cutoff).compute(labels, order)
            )
            values = np.array(computed, np.float64).reshape(-1)
            for row, grades_of_scores in tied.items():
                values[row] = metric.expected(grades_of_scores, top_grade)
            parts[key].append(values)
    return {key: np.concatenate(values) for key, values in parts.items()}


def _ranked(
    grades: Sequence[npt.NDArray[np.int64]], scores: Sequence[npt.NDArray[Any]], size: int
) -> tuple[npt.NDArray[np.float32], dict[int, list[list[int]]]]:
    """Returns the padded grades of lists in the order of their scores; and for each row with different grades at the
    same score, the grades by score."""
    padded = np.full((2, len(grades), size), PADDING_LABEL, np.float32)
    padded[1] = -np.inf
    for row, columns in enumerate(zip(grades, scores, strict=True)):
        padded[:, row, : len(columns[0])] = columns
    order = np.argsort(-padded[1], axis=1, kind="stable")
    ranked, ranked_scores = np.take_along_axis(padded, order[np.newaxis], axis=2)
    is_equal = ranked_scores[:, 1:] == ranked_scores[:, :-1]
    tied = {}
    for row in np.flatnonzero((is_equal & (ranked[:, 1:] != ranked[:, :-1])).any(axis=1)).tolist():
        number = len(grades[row])
        starts = np.flatnonzero(~is_equal[row, : number - 1]) + 1
        tied[row] = [part.astype(int).tolist() for part in np.split(ranked[row, :number], starts)]
    return ranked, tied


def means(values: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, float]:
    """The mean over the queries of each metric; 0 without queries."""
    return {key: float(query_values.mean()) if len(query_values) else 0.0 for key, query_values in values.items()}
