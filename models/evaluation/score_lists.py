"""Scores query lists with an exported model."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.choices import SCORES
from models.encoders.cached_encoder import CachedEncoder
from models.encoders.pretrained_encoder import PretrainedEncoder, Role
from models.evaluation.metrics import per_query_metrics
from models.exported.model import LoadedModel
from models.lists.ranking_lists import RankingLists
from models.retrieval.document_ranker import Feedback
from models.retrieval.ranking import ranked_grades
from schemas import features as f
from schemas.errors import DataError

_BATCH_PLACES: Final = 4096
_CHECKED_TEXTS: Final = 32
_ROUNDING: Final = 1e-4
"""Most by which a cosine of a vector to itself may lie below 1; float16 and other kernels round by about 1e-6."""


def score_lists(
    model_path: str, lists: RankingLists, feedback: float = 0.0, encoder: PretrainedEncoder | None = None
) -> dict[str, list[npt.NDArray[np.float32]]]:
    """Scores every document of every list.

    Args:
      model_path: a SavedModel of ours.
      lists: query lists, as texts.
      feedback: gain of the second pass (see `Feedback`) in `scores`; 0 for none.
      encoder: gives the vectors of the lists' texts, in place of the model's own pre-trained encoder, with which it
        must agree; None for that encoder, if the model has one.

    Returns:
      `scores` and each channel's name to float32 [list_size] for each list; words that match are the last.

    Raises:
      DataError: there is no such model, it has no channel of words that match, which feedback needs, or its encoder
        gives other vectors.
    """
    model = LoadedModel(model_path, *(["own_terms"] if feedback else []), encoder=encoder)
    if encoder is None and model.own_encoder:
        model.encoder = CachedEncoder(model.own_encoder)
    texts = lists.document_columns[f.DOC_TEXT]
    if encoder and model.holds_encoder:
        _check_vectors(model, encoder, lists)
    names = sorted([SCORES, *model.channel_weights], key=lambda name: (name == model.words_channel, name))
    scores: dict[str, list[npt.NDArray[np.float32]]] = {name: [] for name in names}
    sizes = lists.documents.row_lengths().numpy()
    for batch in _batches(sizes.tolist()):
        found = model.tensors(
            "score",
            query=tf.gather(lists.query_columns[f.QUERY_TEXT], batch),
            documents=tf.gather(texts, tf.gather(lists.documents, batch)).to_tensor(""),
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
    """Returns every metric of a model's scores for every list, see `models.evaluation.metrics.per_query_metrics`."""
    return per_query_metrics(ranked_grades(lists.query_ids, lists.doc_ids, scores, lists.grades), top_grade)


def _check_vectors(model: LoadedModel, encoder: PretrainedEncoder, lists: RankingLists) -> None:
    """Refuses vectors that are not those of the encoder in a model's graph, by the first texts of each role.

    All texts would take as long as the whole evaluation does.
    """
    columns: dict[Role, tf.Tensor] = {
        "query": lists.query_columns[f.QUERY_TEXT],
        "document": lists.document_columns[f.DOC_TEXT],
    }
    for role, column in columns.items():
        texts = [text.decode() for text in column[:_CHECKED_TEXTS].numpy().tolist() if text]
        own = model.own_encoder.encode(texts, role) if texts and model.own_encoder else np.zeros([0, 1], np.float32)
        given = encoder.encode(texts, role) if texts else own
        cosines = np.sum(own * given, axis=1) / np.linalg.norm(own, axis=1) / np.linalg.norm(given, axis=1)
        if (off := np.flatnonzero(~(cosines > 1 - _ROUNDING))).size:
            raise DataError(
                f"the vectors that {model} was trained with must be those of the encoder in its graph; for the {role} "
                f"{texts[off[0]][:60]!r} the two have the cosine {cosines[off[0]]:.4f}."
            )


def _batches(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yields rows of consecutive lists, as many as their padded size allows, and one at least."""
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
