"""The statistics of documents that an exported model was made with, and keeps."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from models.exported.model import ModelStatistics
from models.lexicon.lexicon import idf
from models.lexicon.structured_queries import held_share
from models.retrieval.segment import Segment
from schemas.index_manifest import Drift

_Weights = npt.NDArray[np.float64]


def jensen_shannon(one: _Weights, other: _Weights) -> float:
    """The Jensen-Shannon divergence of two distributions, in bits.

        M = (P + Q) / 2
        JS(P, Q) = (KL(P, M) + KL(Q, M)) / 2

    Args:
      one, other: weights >= 0 of the same things, float [things], which need not sum up to 1.

    Returns:
      from 0, where they are equal, to 1, where nothing has a weight in both.

    Raises:
      ValueError: one has no weight above 0.

    Example:
      >>> jensen_shannon(np.array([2.0, 0.0]), np.array([0.0, 3.0])), jensen_shannon(np.ones(2), np.ones(2))
      (1.0, 0.0)
    """
    if not (one.sum() > 0 and other.sum() > 0):
        raise ValueError(f"weights must not all be 0; their sums are {one.sum():g} and {other.sum():g}.")
    parts = [one / one.sum(), other / other.sum()]
    middle = (parts[0] + parts[1]) / 2
    divergence = sum(float(np.sum(part[part > 0] * np.log2(part[part > 0] / middle[part > 0]))) for part in parts) / 2
    return min(max(divergence, 0.0), 1.0)


_OLD_MODEL: Final = (
    "the model was exported by an earlier version, which does not tell its statistics; a new `clir run` exports one"
)
_NO_LEXICON: Final = "the model has no channel of words that match, and so no statistics of documents"
_NO_TERMS: Final = "the index or the lexicon holds no term"


def measure_drift(segments: Sequence[Segment], model: ModelStatistics | None) -> Drift:
    """Measures it, from what the segments hold: no document is encoded, and one that was removed does not count.

    Every figure is a sum over documents, or follows from such sums: how the documents are divided into segments, and
    by which updates they came, makes no difference.

    Args:
      segments: of the index.
      model: what it keeps; None where there is nothing.
    """
    documents = sum(len(segment.kept) for segment in segments)
    drift = Drift(
        documents=documents,
        model_documents=model.documents if model else None,
        model_mean_length=model.mean_length if model else None,
        reason="" if model else _NO_LEXICON,
    )
    counts = [segment.counts[segment.kept] for segment in segments if segment.counts is not None]
    if sum(map(len, counts)) < documents:
        return drift.model_copy(update={"reason": _OLD_MODEL})
    terms, unknown = np.concatenate([np.zeros((1, 2), np.int64), *counts]).sum(axis=0).tolist()
    if not terms:
        return drift.model_copy(update={"reason": _NO_TERMS})
    found: dict[str, float | str] = {"mean_length": terms / documents, "unknown_share": unknown / terms}
    if model:
        ours, theirs = _frequencies(segments, model)
        found |= {"divergence": jensen_shannon(ours, theirs)} if theirs.any() else {"reason": _NO_TERMS}
    return drift.model_copy(update=found)


def _frequencies(
    segments: Sequence[Segment], model: ModelStatistics
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The document frequencies of the index and of the model, of the terms of either: two of float [terms]."""
    places = {term: place for place, term in enumerate(model.document_frequency)}
    theirs = np.array([*model.document_frequency.values()])
    ours = np.zeros(len(theirs))
    for segment in segments:
        at = np.array([places.setdefault(term, len(places)) for term in segment.words.terms], np.int64)
        ours.resize(len(places), refcheck=False)
        theirs.resize(len(places), refcheck=False)
        ours[at] += _held(segment, model, idf(model.documents, theirs[at]).astype(np.float32))
    return ours, theirs


def _held(segment: Segment, model: ModelStatistics, rarity: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """The document frequencies of a segment's terms, of which the rarity is given: float [terms]."""
    is_kept = (~segment.is_removed).astype(np.float32)
    lengths = np.zeros(len(segment), np.float32) if segment.counts is None else segment.counts[:, 0].astype(np.float32)

    def shares(
        columns: npt.NDArray[np.int64], rows: npt.NDArray[np.int32], weights: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        if model.kind == "tfidf":
            return is_kept[rows]
        return is_kept[rows] * held_share(weights, rarity[columns], lengths[rows], model.mean_length or 1.0)

    return segment.words.column_sums(shares)
