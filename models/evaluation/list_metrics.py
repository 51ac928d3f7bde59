"""The metrics of scores of query lists."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import per_query_metrics
from models.lists.ranking_lists import RankingLists
from schemas.errors import DataError


def list_metrics(
    lists: RankingLists,
    scores: Sequence[npt.NDArray[Any]],
    top_grade: int,
    keys: Collection[str] | None = None,
) -> dict[str, npt.NDArray[np.float64]]:
    """The values of all metrics, or of `keys`, for each list; see `models.evaluation.metrics.per_query_metrics`.

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
                "model.epsilon."
            )
    return per_query_metrics(lists.grades, scores, top_grade, keys)
