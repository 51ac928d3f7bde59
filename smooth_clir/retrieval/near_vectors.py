"""Searches for near vectors among many, by FAISS's inverted lists (Jégou et al. 2011), with a byte for each number."""

from typing import Any, Final

import faiss
import numpy as np
import numpy.typing as npt

MIN_VECTORS: Final = 1 << 17
"""The smallest number of vectors that get lists; fewer vectors are all compared."""
PROBED: Final = 1 / 16
"""The share of the lists that a search reads."""
TRAINED_ON: Final = 64
"""The number of vectors in the sample for each list."""

_Vectors = npt.NDArray[np.float32]
_Numbers = npt.NDArray[np.int64]

_selector: Final[Any] = faiss.IDSelectorBitmap
_parameters: Final[Any] = faiss.SearchParametersIVF
"""FAISS's type hints lack the arguments that Python code gives to both."""


def lists_for(vectors: int) -> int:
    """Returns the number of lists for a number of vectors n: the power of two nearest to 4 sqrt(n), at most n.

    Example:
      >>> lists_for(1_000_000), lists_for(200_000)
      (4096, 2048)
    """
    return int(2 ** min(round(np.log2(4 * np.sqrt(vectors))), int(np.log2(vectors))))


class NearVectors:
    """Numbered vectors in lists; a search reads only the nearest lists.

    Args:
      index: an index of FAISS.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def learn(cls, sample: _Vectors, lists: int) -> "NearVectors":
        """Makes empty lists, and learns their centres from a sample of the vectors: float32 [sample, dim]."""
        dim, coarse = sample.shape[1], faiss.IndexFlatIP(sample.shape[1])
        byte = faiss.ScalarQuantizer.QT_8bit
        index = faiss.IndexIVFScalarQuantizer(coarse, dim, lists, byte, faiss.METRIC_INNER_PRODUCT)
        index.cp.min_points_per_centroid = 1  # without it FAISS warns about small samples
        index.train(np.ascontiguousarray(sample))
        return cls(index)

    @classmethod
    def load(cls, path: str, probes: int, into_memory: bool = False) -> "NearVectors":
        """Reads a file from `save`; its vectors are mapped, or loaded into memory to be changed."""
        index: Any = faiss.read_index(path, 0 if into_memory else faiss.IO_FLAG_MMAP)
        index.nprobe = probes
        return cls(index)

    def save(self, path: str) -> None:
        faiss.write_index(self._index, path)

    @property
    def lists(self) -> int:
        return int(self._index.nlist)

    def add(self, vectors: _Vectors, numbers: _Numbers) -> None:
        """Adds vectors, float32 [vectors, dim], with their numbers, int64 [vectors]."""
        self._index.add_with_ids(np.ascontiguousarray(vectors), numbers)

    def remove(self, numbers: _Numbers) -> None:
        """Removes the vectors with these numbers."""
        if len(numbers):
            self._index.remove_ids(faiss.IDSelectorBatch(numbers))

    def search(self, vector: _Vectors, limit: int, among: _Numbers | None = None) -> _Numbers:
        """Returns the numbers of the vectors with the largest inner products, among the lists that are read.

        Products are of the bytes: nearly all of the exact ten best are among the first hundred.

        Args:
          vector: float32 [dim].
          limit: the largest number of vectors.
          among: the numbers of the allowed vectors, at least one; None for all.
        """
        parameters = None
        if among is not None:
            is_allowed = np.zeros(among.max() + 1, np.bool_)
            is_allowed[among] = True
            selector = _selector(np.packbits(is_allowed, bitorder="little"))
            parameters = _parameters(sel=selector, nprobe=self._index.nprobe)
        _, (numbers,) = self._index.search(vector[np.newaxis], limit, params=parameters)
        hits: _Numbers = numbers[numbers >= 0]
        return hits
