"""Pseudo-relevance feedback: a second pass that takes the best documents of the first pass as relevant."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.lists.ranking import rank
from models.lists.ranking_lists import RankingLists

SHARPNESS: Final = 4.0

Similarity: TypeAlias = Callable[[npt.NDArray[np.int64], npt.NDArray[np.float32]], npt.NDArray[np.float32]]
"""From the rows t of the best candidates, int [documents], and their weights w, float32 [documents], to the sum over t
of w(t) cos(v(d), v(t)) for each candidate d, float32 [candidates]."""


class Feedback(NamedTuple):
    """A second pass over the candidates of a query, which raises those similar to the best candidates.

        s'(d) = s(d) + gain sd(s) sum over the best documents t of w(t) cos(v(d), v(t))
        w = softmax over these t of SHARPNESS s(t) / sd(s)

    with s the scores of the candidates, sd their standard deviation, and v(d) the weights of the document's own terms,
    which are BM25's if the channel of matching words is a lexicon or BM25.

    Example:
      >>> vectors = sparse.csr_matrix(np.array([[0.6, 0.8], [0, 1], [1, 0]], np.float32))
      >>> scores = np.array([2, 0, 0], np.float32)
      >>> added = Feedback(gain=1.0, documents=1).added(scores, np.array([0, 2, 1]), similarity_of(vectors))
      >>> [round(gain / float(scores.std()), 2) for gain in added.tolist()]
      [1.0, 0.8, 0.6]
    """

    gain: float = 0.0
    """Weight of the second pass; 0: no second pass."""
    documents: int = 2
    """Number of the best documents."""

    def added(
        self, scores: npt.NDArray[np.float32], order: npt.NDArray[np.int64], similarity: Similarity
    ) -> npt.NDArray[np.float32]:
        """Returns s' - s.

        Args:
          scores: s, float32 [candidates].
          order: the candidates' rows from best to worst, see `rank`.
          similarity: compares the candidates with the best ones.

        Returns:
          float32 [candidates].
        """
        spread = scores.std(dtype=np.float64) if self.gain and len(scores) else 0.0
        if spread == 0:  # no candidate is better than another
            return np.zeros_like(scores)
        best = order[: self.documents]
        logits = SHARPNESS * scores[best] / spread
        weights = np.exp(logits - logits[0])
        weights = (weights / weights.sum()).astype(np.float32)
        added: npt.NDArray[np.float32] = (self.gain * spread * similarity(best, weights)).astype(np.float32)
        return added

    def added_to_lists(
        self, lists: RankingLists, scores: Sequence[npt.NDArray[np.float32]], vectors: sparse.csr_matrix
    ) -> list[npt.NDArray[np.float32]]:
        """Returns s' - s for lists, whose documents are the candidates.

        Args:
          lists: query lists.
          scores: s: [lists], each float32 [list_size].
          vectors: unit vectors of the lists' documents, float32 [documents, terms].

        Returns:
          [lists], each float32 [list_size].
        """
        rows = lists.split(lists.documents.flat_values.numpy())
        return [
            self.added(list_scores, rank(list_scores, doc_ids), similarity_of(vectors[list_rows]))
            for list_scores, doc_ids, list_rows in zip(scores, lists.doc_ids, rows, strict=True)
        ]


FIRST_PASS: Final = Feedback()
"""No second pass."""


def similarity_of(vectors: sparse.csr_matrix) -> Similarity:
    """Returns the similarity of candidates with these unit vectors, float32 [candidates, terms]."""
    return lambda best, weights: vectors @ (vectors[best].T @ weights)


def unit_vectors(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    """Divides each row by its norm; a row of zeros stays as it is."""
    # In float64, so that the order of a row's terms does not change its norm.
    norms = sparse.linalg.norm(rows.astype(np.float64), axis=1)
    scale = np.divide(1, norms, where=norms > 0, out=np.zeros_like(norms))
    return (sparse.diags(scale) @ rows).astype(np.float32)
