"""Scores query lists with an exported model."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.exported import load_model
from models.metrics import per_query_metrics
from models.ranking import ranked_grades
from models.text_lists import TextList

_BATCH_PLACES: Final = 4096


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


def score_metrics(
    lists: Sequence[TextList], scores: Sequence[npt.NDArray[np.float32]], top_grade: int
) -> dict[str, npt.NDArray[np.float64]]:
    """Every metric of a model's scores for every list, see `models.metrics.per_query_metrics`."""
    query_ids, doc_ids = [one.query_id for one in lists], [one.doc_ids for one in lists]
    ranked = ranked_grades(query_ids, doc_ids, scores, [one.grades for one in lists])
    return per_query_metrics(ranked, top_grade)


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
