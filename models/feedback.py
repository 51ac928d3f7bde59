"""A second pass over a query's documents: those that are like the best of the first gain."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.ranking import rank
from models.term_matrix import TermMatrix

BEST: Final = 2
SHARPNESS: Final = 4.0

_BATCH: Final = 1024


class Feedback:
    """Pseudo-relevance feedback: the best documents are taken for relevant ones.

        s'(d) = s(d) + gain sd(s) sum over the BEST documents t of w(t) cos(v(d), v(t))
        w = softmax over these t of SHARPNESS s(t) / sd(s)

    with s the scores of a query's documents, sd their standard deviation, and v(d) the weights of the terms that a
    document holds itself: those of BM25, where the channel of words that match is a lexicon's or BM25.

    Args:
      model: an exported model with the signature `own_terms`.
      texts: of the documents, string [documents].
      gain: above 0.
    """

    def __init__(self, model: Any, texts: tf.Tensor, gain: float) -> None:
        self._gain = gain
        terms = TermMatrix()
        for start in range(0, len(texts), _BATCH):
            found = model.signatures["own_terms"](document=texts[start : start + _BATCH])
            terms.add(found["stems"], found["weights"])
        rows = terms.rows()
        norms = sparse.linalg.norm(rows, axis=1)
        self._unit_vectors = sparse.diags(np.divide(1, norms, where=norms > 0, out=np.zeros_like(norms))) @ rows

    def added(
        self, scores: npt.NDArray[np.float32], doc_ids: Sequence[bytes], rows: npt.NDArray[np.int32] | None = None
    ) -> npt.NDArray[np.float32]:
        """s' - s.

        Args:
          scores: s, float32 [list_size].
          doc_ids: of the same documents; they break ties.
          rows: which of the texts these documents are; None for all.

        Returns:
          float32 [list_size].
        """
        spread = scores.std(dtype=np.float64)
        if spread == 0:  # none is better than another
            return np.zeros_like(scores)
        vectors = self._unit_vectors if rows is None else self._unit_vectors[rows]
        best = rank(scores, doc_ids)[:BEST]
        logits = SHARPNESS * scores[best] / spread
        weights = np.exp(logits - logits[0])
        likeness = vectors @ (vectors[best].T @ (weights / weights.sum()))
        added: npt.NDArray[np.float32] = (self._gain * spread * likeness).astype(np.float32)
        return added
