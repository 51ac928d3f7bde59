"""Holds the ids of a collection's documents in little memory; every worker has them before it reads a document."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from schemas.collection import COPIES_FILE, Role
from schemas.splits import stable_hash


def collection_file(folder: str, name: str) -> BinaryIO:
    """Opens a file of a collection, local or remote, from a Beam step."""
    stream: BinaryIO = FileSystems.open(os.path.join(folder, name), compression_type=CompressionTypes.UNCOMPRESSED)
    return stream


def id_hashes(ids: Iterable[bytes]) -> npt.NDArray[np.uint64]:
    """Returns a 64-bit hash of each id, the same in every process: uint64 [ids].

    Two of a million different ids share a hash with a probability below one in ten million.

    Example:
      >>> first, second, third = id_hashes([b"d1", b"d2", b"d1"]).tolist()
      >>> first == third, first == second
      (True, False)
    """
    return np.frombuffer(b"".join(hashlib.blake2b(identifier, digest_size=8).digest() for identifier in ids), "<u8")


class DocumentIds:
    """The ids of all documents as hashes, and a sample from which NR documents are drawn.

    Holds eight bytes a document, and the ids of the sample. An unknown id has the hash of a known one with a
    probability below one in a million million, for a collection of ten million documents.

    Args:
      folder: the collection's folder.
      documents: the collection's documents.
      max_documents: the largest size of the sample; it holds all documents of a smaller collection.
      seed: the seed of the sample.

    Attributes:
      sample: ids, in the order of the files.
      copies: each document that shares its text, to the ids of all documents with this text.
    """

    def __init__(self, folder: str, documents: Role, max_documents: int, seed: int) -> None:
        files, hashes = [pa.array([], pa.large_string())], [np.zeros(0, np.uint64)]
        for shard in documents.shards:
            with collection_file(folder, shard.ids_name) as stream:
                ids = [identifier for identifier in stream.read().split(b"\n") if identifier]
            files.append(pa.array(ids, pa.large_string()))
            hashes.append(id_hashes(ids))
        all_hashes = np.concatenate(hashes)
        sample = pa.concat_arrays(files)
        if len(all_hashes) > max_documents:
            sample = sample.take(pa.array(random_rows(all_hashes, seed, max_documents)))
        self.sample: Sequence[str] = _PackedIds(sample)
        self._hashes = np.sort(all_hashes)
        self.copies = {doc_id: equal for equal in read_copies(folder) for doc_id in equal}

    def include(self, doc_ids: Iterable[str]) -> list[bool]:
        """Returns for each document whether it is in the collection."""
        wanted = id_hashes(doc_id.encode() for doc_id in doc_ids)
        first, end = (np.searchsorted(self._hashes, wanted, side) for side in ("left", "right"))
        are_known: list[bool] = (end > first).tolist()
        return are_known


def read_copies(folder: str) -> list[tuple[str, ...]]:
    """Returns the ids of a collection's documents with equal texts, a tuple for each shared text."""
    with collection_file(folder, COPIES_FILE) as stream:
        return [tuple(line.decode().split("\t")) for line in stream.read().splitlines()]


def random_rows(hashes: npt.NDArray[np.uint64], seed: int, count: int) -> npt.NDArray[np.int64]:
    """Returns the rows of `count` randomly drawn ids; the draw depends on the ids and the seed, not on their order.

    Args:
      hashes: the ids' hashes (see `id_hashes`).
      seed: the seed of the run.
      count: the number of rows, at most all.

    Returns:
      int64 [count], increasing.
    """
    mixed = hashes ^ np.uint64(stable_hash("sample", str(seed)))
    # Steele, Lea and Flood's finalizer makes each bit depend on all bits: the smallest values are a random draw.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return np.sort(np.argsort(mixed, kind="stable")[:count])


class _PackedIds(Sequence[str]):
    """Ids in an Arrow array, which takes about 15 bytes an id; a list takes 60."""

    def __init__(self, ids: pa.LargeStringArray) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: Any) -> Any:
        return self._ids[index].as_py()
