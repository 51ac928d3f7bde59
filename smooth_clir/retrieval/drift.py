"""Measures the drift of an index: how far its documents are from the documents of its model."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from models.exported.lexicon import ModelStatistics
from models.exported.model import ExportedModel
from models.exported.signatures import as_texts
from models.lexicon.term_weight import held_share, idf
from schemas.index_manifest import Drift
from smooth_clir.retrieval.segment import Segment

_NO_LEXICON: Final = "the model has no channel of words that match, and so no statistics of documents"
_NO_TERMS: Final = "the index or the lexicon holds no term"

_Floats = npt.NDArray[np.float64]


def measure_drift(segments: Sequence[Segment], model: ModelStatistics | None) -> Drift:
    """Measures the drift of an index. Encodes no document; removed documents do not count.

    All figures follow from sums over documents, so segments and updates make no difference.

    Args:
      segments: the segments of the index.
      model: the model's statistics; None for a model without a lexicon.
    """
    documents = sum(len(segment.kept_rows) for segment in segments)
    drift = Drift(
        documents=documents,
        model_documents=model.documents if model else None,
        model_mean_length=model.mean_length if model else None,
        reason="" if model else _NO_LEXICON,
    )
    counts = [segment.counts[segment.kept_rows] for segment in segments]
    terms, unknown = np.concatenate([np.zeros((1, 2), np.int64), *counts]).sum(axis=0).tolist()
    if not terms:
        return drift.model_copy(update={"reason": _NO_TERMS})
    figures: dict[str, float | str] = {"mean_length": terms / documents, "unknown_share": unknown / terms}
    if model:
        frequencies = _frequencies(segments, model)
        figures |= {"divergence": jensen_shannon(*frequencies)} if frequencies[1].any() else {"reason": _NO_TERMS}
    return drift.model_copy(update=figures)


def drift_of_texts(model: ExportedModel, texts: Sequence[str]) -> Drift:
    """Measures the drift of texts outside any index: only the share of unknown terms, because few texts have no mean.

    Args:
      model: a model; if it lacks the signature `count_terms`, nothing is measured.
      texts: any number of texts.
    """
    return _drift_of_counts(_term_counts(model, texts))


def drifts_of_texts(model: ExportedModel, texts: Sequence[str]) -> list[Drift]:
    """Measures the drift of each text by itself; see `drift_of_texts`."""
    return [_drift_of_counts(counts[np.newaxis]) for counts in _term_counts(model, texts)]


def _term_counts(model: ExportedModel, texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Counts the terms and the unknown terms of each text: int64 [texts, 2]; zeros if the model cannot count."""
    if "count_terms" not in model.signatures or not texts:
        return np.zeros((len(texts), 2), np.int64)
    counts = model.call("count_terms", {"document": as_texts(texts)})
    columns: npt.NDArray[np.int64] = np.stack([counts["terms"], counts["unknown"]], axis=1).astype(np.int64)
    return columns


def _drift_of_counts(counts: npt.NDArray[np.int64]) -> Drift:
    terms, unknown = counts.sum(axis=0).tolist()
    if not terms:
        return Drift(documents=len(counts), reason=_NO_TERMS)
    return Drift(documents=len(counts), unknown_share=unknown / terms)


def _frequencies(segments: Sequence[Segment], model: ModelStatistics) -> tuple[_Floats, _Floats]:
    """Returns the document frequencies of the index and of the model, for the terms of both: float [terms] each."""
    term_columns = {term: column for column, term in enumerate(model.document_frequency)}
    model_frequency = np.array([*model.document_frequency.values()])
    index_frequency = np.zeros(len(model_frequency))
    for segment in segments:
        columns = np.array([term_columns.setdefault(term, len(term_columns)) for term in segment.words.terms], np.int64)
        index_frequency.resize(len(term_columns), refcheck=False)
        model_frequency.resize(len(term_columns), refcheck=False)
        rarity = idf(model.documents, model_frequency[columns]).astype(np.float32)
        index_frequency[columns] += _frequencies_of_segment(segment, model, rarity)
    return index_frequency, model_frequency


def _frequencies_of_segment(segment: Segment, model: ModelStatistics, rarity: npt.NDArray[np.float32]) -> _Floats:
    """Returns the document frequencies of a segment's terms, float [terms]; `rarity` is the terms' idf."""
    is_kept = (~segment.is_removed).astype(np.float32)
    lengths = segment.counts[:, 0].astype(np.float32)
    sums = np.zeros(len(segment.words.terms))
    for columns, rows, weights in segment.words.entries():
        shares = is_kept[rows]
        if model.kind != "tfidf":
            shares = shares * held_share(weights, rarity[columns], lengths[rows], model.mean_length)
        sums += np.bincount(columns, shares, len(sums))
    return sums


def jensen_shannon(p: _Floats, q: _Floats) -> float:
    """Returns the Jensen-Shannon divergence of two distributions, in bits.

        M = (P + Q) / 2
        JS(P, Q) = (KL(P, M) + KL(Q, M)) / 2

    Args:
      p, q: weights >= 0 of the same terms, float [terms]; they need not sum to 1.

    Returns:
      from 0, for equal distributions, to 1, for distributions that share no term.

    Raises:
      ValueError: all weights of a distribution are 0.

    Example:
      >>> jensen_shannon(np.array([2.0, 0.0]), np.array([0.0, 3.0])), jensen_shannon(np.ones(2), np.ones(2))
      (1.0, 0.0)
    """
    if not (p.sum() > 0 and q.sum() > 0):
        raise ValueError(f"weights must not all be 0; their sums are {p.sum():g} and {q.sum():g}.")
    parts = [p / p.sum(), q / q.sum()]
    middle = (parts[0] + parts[1]) / 2
    divergence = sum(float(np.sum(part[part > 0] * np.log2(part[part > 0] / middle[part > 0]))) for part in parts) / 2
    return min(max(divergence, 0.0), 1.0)
