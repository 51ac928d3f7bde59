"""Texts as rows of weighted terms."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from scipy import sparse


class TermMatrix:
    """Texts as rows of a sparse matrix with a column for each term, collected batch by batch.

    Attributes:
      columns: the column of each term; grows with new terms, and may be shared with another matrix.
    """

    def __init__(self, columns: dict[bytes, int] | None = None) -> None:
        self.columns: dict[bytes, int] = {} if columns is None else columns
        self._batches = [sparse.csr_matrix((0, 0), dtype=np.float32)]

    def add(self, terms: tf.Tensor, weights: tf.Tensor) -> None:
        """Adds texts, from the outputs of an exported model.

        Args:
          terms, weights: string and float [batch, width], padded by "" and 0; the terms of a text are distinct.
        """
        is_term = terms != ""
        distinct, index = tf.unique(tf.boolean_mask(terms, is_term))
        numbers = [self.columns.setdefault(term, len(self.columns)) for term in distinct.numpy().tolist()]
        ends = np.cumsum(tf.math.count_nonzero(is_term, axis=1).numpy())
        rows = (
            tf.boolean_mask(weights, is_term).numpy(),
            np.array(numbers, np.int32)[index.numpy()],
            np.concatenate([[0], ends]),
        )
        self._batches.append(sparse.csr_matrix(rows, shape=(len(ends), len(self.columns))))

    def add_rows(self, terms: Sequence[bytes], rows: sparse.csr_matrix) -> None:
        """Adds texts, from the rows of another matrix.

        Args:
          terms: the terms of its columns.
          rows: the weights, float32 [texts, terms].
        """
        columns = np.array([self.columns.setdefault(term, len(self.columns)) for term in terms], np.int32)
        numbers = columns[rows.indices] if rows.nnz else np.zeros(0, np.int32)
        shape = (rows.shape[0], len(self.columns))
        self._batches.append(sparse.csr_matrix((rows.data, numbers, rows.indptr), shape=shape))

    def rows(self) -> sparse.csr_matrix:
        """The weights of all texts: float32 [texts, terms]."""
        for batch in self._batches:
            batch.resize((batch.shape[0], len(self.columns)))
        self._batches = [sparse.vstack(self._batches, format="csr")]
        return self._batches[0]
