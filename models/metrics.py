"""The paper's seven ranking metrics, computed by TensorFlow Ranking as trec_eval defines them.

All are means over queries. A query without a relevant document scores 0 and counts. Documents are ordered by score,
descending as float32, ties by document id descending (bytewise): TF-Ranking alone would break ties at random. With K
grades "mr" means the highest grade K - 1, and "r" any grade from 1 on.

    p_mr_1       precision of MR at 1
    recall_mr_5  recall of MR at 5; the paper's P_mr@5
    p_r_5        precision of MR and SR at 5; divides by 5 even where a list is shorter
    ndcg_5       NDCG at 5; gain is the grade (linear), discount 1/log2(1 + rank), ideal order that of the list
    map          mean average precision of MR and SR
    mrr_mr       mean reciprocal rank of the first MR document
    mrr_r        mean reciprocal rank of the first MR or SR document
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow_ranking.python import metrics_impl

from models.settings import METRICS
from schemas.errors import DataError
from schemas.relevance import PADDING_LABEL

_CUTOFF = 5


def rank(scores: npt.NDArray[np.float32], doc_ids: Sequence[Any]) -> npt.NDArray[np.int64]:
    """The order of a list: score descending, ties by document id descending (as trec_eval).

    Args:
      scores: float32 [list_size].
      doc_ids: the documents' ids, UTF-8 as bytes, or whatever else shall break the ties.

    Returns:
      int [list_size], places of the list from best to worst.
    """
    by_id = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True)
    return np.asarray(by_id, np.int64)[np.argsort(-np.asarray(scores, np.float32)[by_id], kind="stable")]


def ranked_grades(
    query_ids: Sequence[bytes],
    doc_ids: Sequence[Sequence[bytes]],
    scores: Sequence[npt.NDArray[np.float32]],
    grades: Sequence[npt.NDArray[np.int64]],
) -> list[npt.NDArray[np.int64]]:
    """The grades of every list in ranked order.

    Raises:
      DataError: a score is NaN or infinite.
    """
    ranked = []
    for query_id, ids, list_scores, list_grades in zip(query_ids, doc_ids, scores, grades, strict=True):
        finite = np.isfinite(list_scores)
        if not finite.all():
            place = int(np.argmin(finite))
            raise DataError(
                f"scores must be finite; query {query_id.decode()} got {list_scores[place]} for document "
                f"{ids[place].decode()}. The model has diverged: lower training.learning_rate or raise model.epsilon."
            )
        ranked.append(np.asarray(list_grades)[rank(list_scores, ids)])
    return ranked


def per_query_metrics(ranked: Sequence[npt.NDArray[np.int64]], top_grade: int) -> dict[str, npt.NDArray[np.float64]]:
    """Every metric for every query.

    Args:
      ranked: for each query its documents' grades, best-ranked first.
      top_grade: the MR grade.

    Returns:
      key -> float [queries].
    """
    size = max([_CUTOFF, *map(len, ranked)])
    grades = np.full((len(ranked), size), PADDING_LABEL, np.float32)
    # Up to the cutoff, places that a short list does not have count as irrelevant documents: P@5 divides by 5.
    grades[:, :_CUTOFF] = 0
    for row, list_grades in zip(grades, ranked, strict=True):
        row[: len(list_grades)] = list_grades
    order = np.broadcast_to(np.arange(size, 0, -1, dtype=np.float32), grades.shape)
    most_relevant = np.where(grades < 0, grades, grades == top_grade).astype(np.float32)
    metrics = {
        "p_mr_1": (metrics_impl.PrecisionMetric("p", topn=1), most_relevant),
        "recall_mr_5": (metrics_impl.RecallMetric("recall", topn=_CUTOFF), most_relevant),
        "p_r_5": (metrics_impl.PrecisionMetric("p", topn=_CUTOFF), grades),
        "ndcg_5": (metrics_impl.NDCGMetric("ndcg", topn=_CUTOFF, gain_fn=lambda grade: grade), grades),
        "map": (metrics_impl.MeanAveragePrecisionMetric("map", topn=None), grades),
        "mrr_mr": (metrics_impl.MRRMetric("mrr", topn=None), most_relevant),
        "mrr_r": (metrics_impl.MRRMetric("mrr", topn=None), grades),
    }
    values = {}
    for key in METRICS:
        metric, labels = metrics[key]
        value, _ = metric.compute(tf.constant(labels), tf.constant(order))
        values[key] = value.numpy().reshape(-1).astype(np.float64)
    return values


def mean_metrics(ranked: Sequence[npt.NDArray[np.int64]], top_grade: int) -> dict[str, float]:
    """The mean of every metric over the queries; 0 where there are none."""
    if not ranked:
        return dict.fromkeys(METRICS, 0.0)
    return {key: float(values.mean()) for key, values in per_query_metrics(ranked, top_grade).items()}
