"""A start for linear encoders: the singular vectors of a lexicon's table of translations."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.lexicon.lexicon import Lexicon
from models.lexicon.svd import largest_singular_vectors
from schemas.errors import DataError

_Floats = npt.NDArray[np.float32]


def singular_vectors(
    lexicon: Lexicon, query_terms: Sequence[bytes], document_terms: Sequence[bytes], dim: int
) -> tuple[_Floats, _Floats]:
    """Returns U and V, whose product approximates four times the lexicon's table.

        T = max(A, identity) = P S Q'        (singular value decomposition)
        U = 2 P sqrt(S),  V = 2 Q sqrt(S)    of the dim largest singular values

    If dim is the rank of T, the inner product of U'q and V'd is 4 q'Td: a query's terms match their translations and
    equal terms. The factor 2 puts the margin of the hinge, 1, within reach.

    Args:
      lexicon: a lexicon of the kind `lexicon`.
      query_terms, document_terms: the terms of the rows of U and of V, UTF-8; equal terms match.
      dim: number of columns.

    Returns:
      U float32 [query terms, dim], V float32 [document terms, dim]; the row of a term without an entry in T is 0.

    Raises:
      DataError: dim is larger than the rank of T.
    """
    decomposition = largest_singular_vectors(_table(lexicon, query_terms, document_terms), dim)
    if len(decomposition.values) < dim:
        raise DataError(
            "channels.towers.embedding_dim must not be larger than the rank of the lexicon's table of translations, "
            f"{len(decomposition.values)}, because the start is made from its singular vectors; got {dim}."
        )
    scale = 2 * np.sqrt(decomposition.values)
    return (decomposition.left * scale).astype(np.float32), (decomposition.right * scale).astype(np.float32)


def _table(lexicon: Lexicon, query_terms: Sequence[bytes], document_terms: Sequence[bytes]) -> sparse.csr_matrix:
    """Returns T for terms of queries and documents: float64 [query terms, document terms]."""
    row, column = ({term: number for number, term in enumerate(terms)} for terms in (query_terms, document_terms))
    learned = lexicon.translations.tocoo()
    rows, columns = (
        np.array([numbers.get(term, -1) for term in lexicon.terms], np.int64)[at]
        for numbers, at in ((row, learned.row), (column, learned.col))
    )
    is_known = (rows >= 0) & (columns >= 0)
    shape = len(query_terms), len(document_terms)
    translations = sparse.csr_matrix((learned.data[is_known], (rows[is_known], columns[is_known])), shape=shape)
    same = [(row[term], column[term]) for term in row.keys() & column.keys()]
    cells = np.array(sorted(same), np.int64).reshape(-1, 2)
    identity = sparse.csr_matrix((np.ones(len(cells)), (cells[:, 0], cells[:, 1])), shape=shape)
    table: sparse.csr_matrix = translations.maximum(identity)
    return table
