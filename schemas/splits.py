"""The splits, and the hash that assigns them."""

import hashlib
from typing import Final

SPLITS: Final = ("train", "eval", "test")
SPLIT_SHARES: Final = (3, 1, 1)
"""The paper's split, by query (section 5)."""


def stable_hash(*parts: str) -> int:
    """Hashes strings without tabs to the same number on every machine: 64 bits of their BLAKE2b digest."""
    return int.from_bytes(hashlib.blake2b("\t".join(parts).encode(), digest_size=8).digest(), "big")


def split_of(identifier: str) -> str:
    """Returns the split of a query, or of a group of documents, by a hash of its id, in the shares 3:1:1.

    Example:
      >>> {split_of(str(query_id)) for query_id in range(100)} == {"train", "eval", "test"}
      True
    """
    bucket = stable_hash("split", identifier) % sum(SPLIT_SHARES)
    for split, share in zip(SPLITS, SPLIT_SHARES, strict=True):
        if bucket < share:
            return split
        bucket -= share
    raise AssertionError("a bucket lies within the shares")
