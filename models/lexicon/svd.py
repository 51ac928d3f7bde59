"""The largest singular vectors of a sparse matrix, the same bytes on every call."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

_SMALLEST: Final = 1e-6
"""Share of the largest singular value below which a value counts as 0; ARPACK returns zeros as up to 1e-8."""

_Floats = npt.NDArray[np.float64]


class SingularVectors(NamedTuple):
    """Singular vectors in the order of falling singular values: left * values @ right.T is close to the matrix."""

    left: _Floats
    """float [rows, number]; the component of the largest magnitude is positive in each column."""
    values: _Floats
    """float [number], each above 0."""
    right: _Floats
    """float [columns, number]."""


def largest_singular_vectors(matrix: sparse.csr_matrix, limit: int) -> SingularVectors:
    """Decomposes a matrix. The start of the iteration and the signs are fixed.

    Args:
      matrix: float [rows, columns].
      limit: the largest number of vectors, at least 1; there are fewer if the rank of the matrix is smaller.
    """
    smaller = min(matrix.shape)
    if limit < smaller:
        # A constant start could be orthogonal to a singular vector.
        start = np.random.default_rng(0).standard_normal(smaller)
        left, values, right = sparse.linalg.svds(matrix.astype(np.float64), limit, v0=start)
    else:
        # ARPACK never returns all vectors; the dense matrix is as large as the vectors.
        left, values, right = linalg.svd(matrix.toarray(), full_matrices=False)
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > _SMALLEST * values.max(initial=0.0)]
    left, values, right = left[:, order], values[order], right[order].T
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(len(order))])
    return SingularVectors(left * signs, values, right * signs)
