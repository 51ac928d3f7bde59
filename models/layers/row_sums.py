"""Means and weighted sums of texts' rows, by sparse matrices.

Products of CSR matrices take the place of TensorFlow's ops that add row by row, the gradient of `segment_mean` and
`sparse_dense_matmul`, for which TensorFlow 2.21 takes five to ten times as long as 2.15 (docs/machines.md). On a GPU,
whose kernels for CSR matrices were not tried, TensorFlow's own ops remain.
"""

from collections.abc import Callable

import tensorflow as tf

_OfRows = Callable[[tf.Tensor], tf.Tensor]


def segment_mean(rows: tf.Tensor, row: tf.Tensor, text: tf.Tensor, texts: tf.Tensor, training: bool) -> tf.Tensor:
    """Returns the mean of each text's rows; the gradient is bit by bit that of `tf.sparse.segment_mean`.

    Args:
      rows: float [rows, dim].
      row: the row of each occurrence, text by text: int [occurrences].
      text: the text of each occurrence, ascending: int64 [occurrences].
      texts: their number, int64.
      training: whether the gradient is needed.

    Returns:
      float [texts, dim]; zero for a text without rows.
    """

    def mean(rows: tf.Tensor) -> tf.Tensor:
        return tf.sparse.segment_mean(rows, row, text, num_segments=texts)

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        matrix = _matrix(tf.ones(tf.shape(row), rows.dtype), row, text, texts, _at_least_one(rows))
        starts = tf.raw_ops.CSRSparseMatrixComponents(csr_sparse_matrix=matrix, index=0, type=rows.dtype).row_ptrs
        lengths = tf.cast(tf.maximum(starts[1:] - starts[:-1], 1), rows.dtype)
        return _transposed_product(matrix, upstream * (1 / lengths)[:, tf.newaxis], rows)

    return mean(rows) if _has_gpu() else _with_gradient(mean, gradient, rows, training)


def weighted_sum(
    rows: tf.Tensor, row: tf.Tensor, text: tf.Tensor, texts: tf.Tensor, weight: tf.Tensor, training: bool = False
) -> tf.Tensor:
    """Returns the sum of each text's rows times their weights, which get no gradient in training.

    Args:
      rows, row, text, texts, training: see `segment_mean`.
      weight: the weight of each occurrence: float [occurrences].

    Returns:
      float [texts, dim]; zero for a text without rows.
    """

    def weighted(rows: tf.Tensor) -> tf.Tensor:
        matrix = _matrix(weight, row, text, tf.maximum(texts, 1), tf.shape(rows, tf.int64)[0])
        return tf.raw_ops.SparseMatrixMatMul(a=matrix, b=rows)[:texts]

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        return _transposed_product(_matrix(weight, row, text, texts, _at_least_one(rows)), upstream, rows)

    if _has_gpu():
        entries = tf.stack([text, tf.cast(row, tf.int64)], axis=1)
        matrix = tf.SparseTensor(entries, weight, tf.stack([texts, tf.shape(rows, tf.int64)[0]]))
        return tf.sparse.sparse_dense_matmul(matrix, rows)
    return _with_gradient(weighted, gradient, rows, training)


def _has_gpu() -> bool:
    return bool(tf.config.list_logical_devices("GPU"))


def _with_gradient(function: _OfRows, gradient: _OfRows, rows: tf.Tensor, training: bool) -> tf.Tensor:
    """Calls a function, in training with a gradient of ours, which an exported graph would keep for each call."""
    return tf.custom_gradient(lambda rows: (function(rows), gradient))(rows) if training else function(rows)


def _matrix(weight: tf.Tensor, row: tf.Tensor, text: tf.Tensor, texts: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """The CSR matrix [texts, rows] of the occurrences' weights."""
    # Stacking on the last axis would take longer than the matrix.
    entries = tf.transpose(tf.stack([text, tf.cast(row, tf.int64)]))
    shape = tf.stack([texts, rows])
    return tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=entries, values=weight, dense_shape=shape)


def _transposed_product(matrix: tf.Tensor, upstream: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """The matrix [texts, rows], transposed, times float [texts, dim]."""
    transposed = tf.raw_ops.SparseMatrixTranspose(input=matrix, type=rows.dtype)
    return tf.raw_ops.SparseMatrixMatMul(a=transposed, b=upstream)[: tf.shape(rows)[0]]


def _at_least_one(rows: tf.Tensor) -> tf.Tensor:
    """The number of rows, or 1 for none: a product without any rows kills the process on TensorFlow 2.15."""
    return tf.maximum(tf.shape(rows, tf.int64)[0], 1)
