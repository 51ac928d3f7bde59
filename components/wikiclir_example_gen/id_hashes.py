"""Ids as numbers of 64 bits, which are eight bytes each, however long the ids."""

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


def id_hashes(ids: Iterable[bytes]) -> npt.NDArray[np.uint64]:
    """A hash of each id, the same in every process: uint64 [ids].

    That two of a million different ids have one is less likely than one in ten million.

    Example:
      >>> id_hashes([b"d1", b"d2", b"d1"]).tolist()  # doctest: +ELLIPSIS
      [...]
    """
    return np.frombuffer(b"".join(hashlib.blake2b(one, digest_size=8).digest() for one in ids), "<u8")
