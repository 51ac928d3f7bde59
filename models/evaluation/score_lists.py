"""Scores query lists with an exported model."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.evaluation.metrics import per_query_metrics
from models.exported.model import load_model, words_channel
from models.lists.ranking_lists import RankingLists
from models.rankers.ranker import SCORES
from models.retrieval.document_ranker import Feedback
from models.retrieval.ranking import ranked_grades
from schemas import features as f

_BATCH_PLACES: Final = 4096


def score_lists(
    model_path: str, lists: RankingLists, feedback: float = 0.0
) -> dict[str, list[npt.NDArray[np.float32]]]:
    """The exported model's scores of every document of every list, as `scores`, and each channel's by its name.

    Args:
      model_path: a SavedModel of ours.
      lists: query lists, as texts.
      feedback: gain of the second pass (see `models.retrieval.document_ranker`) in `scores`; 0 for none.

    Returns:
      name to float32 [list_size] for each list; words that match are the last.

    Raises:
      DataError: there is no such model, or it has no channel of words that match, which feedback needs.
    """
    model = load_model(model_path, "score", *(["own_terms"] if feedback else []))
    score, words = model.signatures["score"], words_channel(model)
    texts = lists.document_columns[f.DOC_TEXT]
    scores: dict[str, list[npt.NDArray[np.float32]]] = {
        name: [] for name in sorted(score.structured_outputs, key=lambda name: (name == words, name))
    }
    sizes = lists.documents.row_lengths().numpy()
    for batch in _batches(sizes.tolist()):
        documents = tf.gather(lists.documents, batch)
        found = score(
            query=tf.gather(lists.query_columns[f.QUERY_TEXT], batch),
            documents=tf.gather(texts, documents).to_tensor(""),
        )
        for name, rows in found.items():
            scores[name].extend(row[:size] for row, size in zip(rows.numpy(), sizes[batch], strict=True))
    if feedback:
        second_pass = Feedback(model, texts, feedback)
        of_lists = zip(scores[SCORES], lists.doc_ids, lists.split(lists.documents.flat_values.numpy()), strict=True)
        scores[SCORES] = [one + second_pass.added(one, doc_ids, rows) for one, doc_ids, rows in of_lists]
    return scores


def score_metrics(
    lists: RankingLists, scores: Sequence[npt.NDArray[np.float32]], top_grade: int
) -> dict[str, npt.NDArray[np.float64]]:
    """Every metric of a model's scores for every list, see `models.evaluation.metrics.per_query_metrics`."""
    return per_query_metrics(ranked_grades(lists.query_ids, lists.doc_ids, scores, lists.grades), top_grade)


def _batches(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Rows of consecutive lists, as many as their padded size allows, and one at least."""
    batch: list[int] = []
    longest = 0
    for row, size in enumerate(sizes):
        longest = max(longest, size)
        if batch and longest * (len(batch) + 1) > _BATCH_PLACES:
            yield batch
            batch, longest = [], size
        batch.append(row)
    if batch:
        yield batch
