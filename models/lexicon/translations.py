"""Translations of a query's stems by document stems: model 1 in both directions, joined."""

from typing import Final

import numpy as np
from scipy import sparse

from models.lexicon.model_1 import explained_shares, largest

MIN_SHARE: Final = 0.005
MAX_TRANSLATIONS: Final = 50

_ITERATIONS: Final = 5
_BACKWARD_POWER: Final = 0.4
_MIN_DIRECTION_SHARE: Final = 0.001
_MAX_DIRECTION_TRANSLATIONS: Final = 200


def learn_translations(
    queries: sparse.csr_matrix, documents: sparse.csr_matrix, pairs: sparse.csr_matrix
) -> sparse.csr_matrix:
    """How well each document stem translates each query stem.

    With F[q, w] the share of the query stem q that the document stem w explains, and B[w, q] that of w that q explains
    (see `explained_shares`),

        A[q, w] = m(q) F[q, w]^0.6 B[w, q]^0.4 / (the sum of this power over w'),   m(q) = sum over w of F[q, w]

    so that a translation has to explain both, and q keeps the share of its occurrences that has an explanation at all.
    Of F and B, shares of at least 0.001 count, 200 a stem; A keeps those of at least 0.005, 50 a query stem.

    Args:
      queries: the number of occurrences of each stem in each query, int [queries, query stems].
      documents: the same of documents, int [documents, document stems].
      pairs: the weight of the pairs of each query and document, float [queries, documents].

    Returns:
      A, float64 [query stems, document stems].
    """
    forward, backward = (
        explained_shares(
            (side_pairs @ targets.astype(bool).astype(np.float64)).T.tocsr(),
            sources,
            _ITERATIONS,
            _MIN_DIRECTION_SHARE,
            _MAX_DIRECTION_TRANSLATIONS,
        )
        for targets, sources, side_pairs in ((queries, documents, pairs.T), (documents, queries, pairs))
    )
    joined = forward.power(1 - _BACKWARD_POWER).multiply(backward.T.tocsr().power(_BACKWARD_POWER)).tocoo()
    mass, sums = (np.asarray(table.sum(axis=1))[:, 0] for table in (forward, joined))
    shares = joined.data * mass[joined.row] / sums[joined.row]
    return largest(joined.row, joined.col, shares, joined.shape, MIN_SHARE, MAX_TRANSLATIONS)
