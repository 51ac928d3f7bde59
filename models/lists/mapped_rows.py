"""Columns of lists in files, which may be larger than memory: ragged rows of ids, and vectors."""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

_ROWS_OF_A_BLOCK: Final = 1 << 14
_FEW: Final = 1 << 24
"""Number of values (64 MB) up to which rows are held in memory: TensorFlow then gathers them without Python, which
halves the time of a training's input."""

Ints = npt.NDArray[np.int32]


class MappedColumn(ABC):
    """A column of documents or queries that is read from a file on demand and cached by the system."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def select(self, rows: npt.NDArray[Any]) -> "MappedColumn":
        """A selection of the rows, in the same file."""

    @abstractmethod
    def gather(self, rows: tf.Tensor) -> Any:
        """Gathers rows as `tf.gather` does, also in a graph."""

    @abstractmethod
    def parts(self) -> Iterator[Iterable[npt.NDArray[Any]]]:
        """The arrays of the column, each in blocks."""


class MappedRows(MappedColumn):
    """Rows of int32 in a file, or in memory if they have few values.

    Args:
      values: the values of all rows, maybe with other values in between.
      starts: the index of each row's first value, int64 [rows].
      lengths: the number of each row's values, int64 [rows].
    """

    def __init__(self, values: Ints, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> None:
        self._values, self._starts, self._lengths = values, starts, lengths

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def row_splits(self) -> npt.NDArray[np.int64]:
        """The start of each row among the values of all, and the end of the last: int64 [rows + 1]."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self._lengths)])

    def select(self, rows: npt.NDArray[Any]) -> "MappedRows":
        """A selection of the rows, in the same file."""
        return MappedRows(self._values, self._starts[rows], self._lengths[rows])

    def gather(self, rows: tf.Tensor) -> tf.RaggedTensor:
        """Gathers rows as `tf.gather` does, also in a graph: int [n] -> int32 [n, (values)]."""
        if self._lengths.sum() <= _FEW:
            return tf.gather(self._in_memory, rows)
        values, lengths = tf.numpy_function(self.read, [rows], [tf.int32, tf.int64], stateful=False)
        values.set_shape([None])
        lengths.set_shape([None])
        return tf.RaggedTensor.from_row_lengths(values, lengths, validate=False)

    def parts(self) -> Iterator[Iterable[npt.NDArray[Any]]]:
        """The starts of the rows, and all values."""
        yield [self.row_splits]
        yield (values for values, _ in self.blocks())

    def blocks(self) -> Iterator[tuple[Ints, npt.NDArray[np.int64]]]:
        """All rows in blocks, see `read`."""
        for first in range(0, len(self), _ROWS_OF_A_BLOCK):
            yield self.read(np.arange(first, min(first + _ROWS_OF_A_BLOCK, len(self))))

    def tensor(self) -> tf.RaggedTensor:
        """All rows as a tensor in memory."""
        values, lengths = self.read(np.arange(len(self)))
        return tf.RaggedTensor.from_row_lengths(values, lengths, validate=False)

    @cached_property
    def _in_memory(self) -> tf.RaggedTensor:
        # Created outside any graph, so that all graphs can use it, and on the CPU, where datasets run.
        with tf.init_scope(), tf.device("CPU"):
            return self.tensor()

    def read(self, rows: npt.NDArray[Any]) -> tuple[Ints, npt.NDArray[np.int64]]:
        """Reads rows: their values, row by row, and their lengths."""
        starts, lengths = self._starts[rows], self._lengths[rows]
        return self._values[joined_ranges(starts, lengths)], lengths


class MappedVectors(MappedColumn):
    """Rows of a matrix of float16 in a file, as float32.

    Args:
      vectors: float16 [vectors, dim].
      rows: the vector of each row of the column, int64 [rows]; -1 for the zero vector.
    """

    def __init__(self, vectors: npt.NDArray[np.float16], rows: npt.NDArray[np.int64]) -> None:
        self._vectors, self._rows = vectors, rows

    def __len__(self) -> int:
        return len(self._rows)

    def select(self, rows: npt.NDArray[Any]) -> "MappedVectors":
        """A selection of the rows, in the same file."""
        return MappedVectors(self._vectors, self._rows[rows])

    def gather(self, rows: tf.Tensor) -> tf.Tensor:
        """Gathers rows as `tf.gather` does, also in a graph: int [n] -> float32 [n, dim]."""
        vectors = tf.numpy_function(self.read, [rows], tf.float32, stateful=False)
        vectors.set_shape([None, self._vectors.shape[1]])
        return vectors

    def parts(self) -> Iterator[Iterable[npt.NDArray[Any]]]:
        """All vectors, in blocks."""
        yield (
            self.read(np.arange(first, min(first + _ROWS_OF_A_BLOCK, len(self))))
            for first in range(0, len(self), _ROWS_OF_A_BLOCK)
        )

    def read(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Reads rows: int [n] -> float32 [n, dim]."""
        vector_rows = self._rows[rows]
        vectors: npt.NDArray[np.float32] = self._vectors[np.maximum(vector_rows, 0)].astype(np.float32)
        vectors[vector_rows < 0] = 0.0
        return vectors


class RowsFile:
    """A nameless file for rows, which disappears with its process."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()
        self._lengths = [np.zeros(0, np.int64)]

    def add(self, values: Ints, lengths: npt.NDArray[np.int64]) -> None:
        """Adds rows: their values, row by row, and their lengths."""
        self._lengths.append(lengths)
        self._file.write(values.tobytes())

    def mapped(self) -> MappedRows:
        """Closes the file, and returns all rows."""
        lengths = np.concatenate(self._lengths)
        with self._file:
            self._file.flush()
            # An empty file cannot be mapped.
            values = np.memmap(self._file, np.int32, "r") if lengths.any() else np.zeros(0, np.int32)
        return MappedRows(values, np.cumsum(lengths) - lengths, lengths)


def joined_ranges(starts: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The numbers of ranges, one range after the other.

    Example:
      >>> joined_ranges(np.array([7, 2]), np.array([2, 3])).tolist()
      [7, 8, 2, 3, 4]
    """
    before = np.cumsum(lengths) - lengths
    numbers: npt.NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return numbers
