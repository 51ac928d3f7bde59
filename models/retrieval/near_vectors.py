"""Near vectors among many: FAISS's inverted lists (Jégou et al. 2011)."""

from typing import Any, Final

import faiss
import numpy as np
import numpy.typing as npt

LEAST: Final = 1 << 17
"""Fewer vectors than these are all compared."""
PROBED: Final = 1 / 16
"""The share of the lists that a search looks into."""
_TRAINED_ON: Final = 64
"""Vectors for each list that its place is learned from."""

_Vectors = npt.NDArray[np.float32]
_Numbers = npt.NDArray[np.int64]


def lists_for(vectors: int) -> int:
    """How many lists so many vectors get: the power of two next to four times their root, and no more than vectors.

    Example:
      >>> lists_for(1_000_000), lists_for(200_000)
      (4096, 2048)
    """
    return int(2 ** min(round(np.log2(4 * np.sqrt(vectors))), int(np.log2(vectors))))


class NearVectors:
    """Vectors by their numbers, in lists of which a search looks into some.

    Args:
      index: FAISS's.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def learn(cls, sample: _Vectors, lists: int) -> "NearVectors":
        """Lists without vectors, which learn where they lie from a sample [vectors, dim] of what is to come."""
        index = faiss.IndexIVFFlat(
            faiss.IndexFlatIP(sample.shape[1]), sample.shape[1], lists, faiss.METRIC_INNER_PRODUCT
        )
        index.cp.min_points_per_centroid = 1  # else it warns about samples that are small
        index.train(np.ascontiguousarray(sample))
        return cls(index)

    @classmethod
    def load(cls, path: str, probes: int, into_memory: bool = False) -> "NearVectors":
        """What `save` wrote; its vectors are mapped, unless they are to be changed."""
        index: Any = faiss.read_index(path, 0 if into_memory else faiss.IO_FLAG_MMAP)
        index.nprobe = probes
        return cls(index)

    def save(self, path: str) -> None:
        """Writes it into a file."""
        faiss.write_index(self._index, path)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def lists(self) -> int:
        """How many there are."""
        return int(self._index.nlist)

    def add(self, vectors: _Vectors, numbers: _Numbers) -> None:
        """Adds vectors [vectors, dim] by their numbers, int64 [vectors]."""
        self._index.add_with_ids(np.ascontiguousarray(vectors), numbers)

    def remove(self, numbers: _Numbers) -> None:
        """Removes the vectors of numbers."""
        if len(numbers):
            self._index.remove_ids(faiss.IDSelectorBatch(numbers))

    def search(self, vector: _Vectors, most: int) -> _Numbers:
        """The numbers of the vectors with the largest inner products, of those in the lists that are looked into."""
        _, (numbers,) = self._index.search(vector[np.newaxis], most)
        found: _Numbers = numbers[numbers >= 0]
        return found


def sample_size(lists: int) -> int:
    """How many vectors so many lists learn from."""
    return lists * _TRAINED_ON
