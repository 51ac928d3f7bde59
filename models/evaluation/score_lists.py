"""Scores query lists with an exported model."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.choices import FIRST_PASS, SCORES
from models.encoders.load_encoder import CachedEncoder
from models.encoders.pretrained_encoder import PretrainedEncoder
from models.exported.model import LoadedModel
from models.lists.ranking_lists import RankingLists
from schemas import features as f

_BATCH_CELLS: Final = 4096


def score_lists(
    model_path: str, lists: RankingLists, gain: float | None = None, encoder: PretrainedEncoder | None = None
) -> dict[str, list[npt.NDArray[np.float32]]]:
    """Scores every document of every list.

    Args:
      model_path: a SavedModel of ours.
      lists: query lists, as texts.
      gain: gain of the second pass in `scores`; None for the model's gain, 0 without a second pass.
      encoder: gives the vectors of the lists' texts; None for the model's own pre-trained encoder, if it has one.

    Returns:
      from `scores` and each channel's name, that of matching words last, to float32 [list_size] for each list. With a
      second pass also `first_pass`, the sum of the channels.

    Raises:
      DataError: the model is missing, or lacks the channel of matching words that a second pass needs.
    """
    model = LoadedModel(model_path, encoder=encoder)
    feedback = model.second_pass(gain)
    if encoder is None and model.own_encoder:
        model.encoder = CachedEncoder(model.own_encoder)
    texts = lists.document_columns[f.DOC_TEXT]
    names = sorted([SCORES, *model.channel_weights], key=lambda name: (name == model.words_channel, name))
    scores: dict[str, list[npt.NDArray[np.float32]]] = {name: [] for name in names}
    sizes = lists.documents.row_lengths().numpy()
    for batch in _batches(sizes.tolist()):
        batch_scores = model.tensors(
            "score",
            query=tf.gather(lists.query_columns[f.QUERY_TEXT], batch),
            documents=tf.gather(texts, tf.gather(lists.documents, batch)).to_tensor(""),
        )
        for name, rows in batch_scores.items():
            scores[name].extend(row[:size] for row, size in zip(rows.numpy(), sizes[batch], strict=True))
    if feedback.gain:
        _, vectors = model.own_vectors(texts.numpy().tolist())
        added = feedback.added_to_lists(lists, scores[SCORES], vectors)
        scores[FIRST_PASS] = scores[SCORES]
        scores[SCORES] = [first + second for first, second in zip(scores[SCORES], added, strict=True)]
    return scores


def _batches(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yields rows of consecutive lists in batches of limited padded size, each with at least one list."""
    batch: list[int] = []
    longest = 0
    for row, size in enumerate(sizes):
        longest = max(longest, size)
        if batch and longest * (len(batch) + 1) > _BATCH_CELLS:
            yield batch
            batch, longest = [], size
        batch.append(row)
    if batch:
        yield batch
