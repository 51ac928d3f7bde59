"""A random choice of ids, by their hashes."""

import numpy as np
import numpy.typing as npt

from schemas.stable_hash import stable_hash


def least_seeded(hashes: npt.NDArray[np.uint64], seed: int, count: int) -> npt.NDArray[np.int64]:
    """The places of a random choice of ids, which depends on the ids and the seed alone, and not on their order.

    Args:
      hashes: of the ids, see `id_hashes`.
      seed: of the run.
      count: how many, at most all.

    Returns:
      int64 [count], increasing.
    """
    mixed = hashes ^ np.uint64(stable_hash("sample", str(seed)))
    # Steele, Lea and Flood's finalizer, which lets each bit depend on all: the least of these are no ids' own.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return np.sort(np.argsort(mixed, kind="stable")[:count])
