"""Texts as rows of a sparse matrix, with a column for each term."""

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse


class TermMatrix:
    """The weights of texts' terms, as an exported model gives them, batch by batch.

    Attributes:
      columns: the column of each term that there is.
    """

    def __init__(self) -> None:
        self.columns: dict[bytes, int] = {}
        self._batches = [sparse.csr_matrix((0, 0), dtype=np.float32)]

    def add(self, terms: tf.Tensor, weights: tf.Tensor) -> None:
        """Adds texts.

        Args:
          terms, weights: string and float [batch, width], padded by "" and 0; a text's terms are distinct.
        """
        is_term = terms != ""
        distinct, place = tf.unique(tf.boolean_mask(terms, is_term))
        numbers = [self.columns.setdefault(term, len(self.columns)) for term in distinct.numpy().tolist()]
        ends = np.cumsum(tf.math.count_nonzero(is_term, axis=1).numpy())
        rows = (
            tf.boolean_mask(weights, is_term).numpy(),
            np.array(numbers, np.int32)[place.numpy()],
            np.concatenate([[0], ends]),
        )
        self._batches.append(sparse.csr_matrix(rows, shape=(len(ends), len(self.columns))))

    def rows(self) -> sparse.csr_matrix:
        """All texts: float32 [texts, terms]."""
        for batch in self._batches:
            batch.resize((batch.shape[0], len(self.columns)))
        return sparse.vstack(self._batches, format="csr")


class InvertedIndex:
    """Finds the documents that hold a query's terms.

    Args:
      documents: their terms.
    """

    def __init__(self, documents: TermMatrix) -> None:
        self._columns = documents.columns
        self._documents_of_terms = documents.rows().tocsc()

    def scores(self, terms: npt.NDArray[np.object_], weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The inner product of each document's terms and a query's.

        Args:
          terms, weights: of the query, [width]; its terms are distinct.

        Returns:
          float32 [documents].
        """
        known = [place for place, term in enumerate(terms) if term in self._columns]
        columns = [self._columns[term] for term in terms[known]]
        scores: npt.NDArray[np.float32] = self._documents_of_terms[:, columns] @ weights[known]
        return scores
