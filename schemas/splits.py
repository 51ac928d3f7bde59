"""The splits, and the hash that assigns them."""

import hashlib

from schemas.features import SPLIT_SHARES, SPLITS


def stable_hash(*parts: str) -> int:
    """64 bits of the BLAKE2b digest of some strings, which hold no tab."""
    return int.from_bytes(hashlib.blake2b("\t".join(parts).encode(), digest_size=8).digest(), "big")


def split_of(identifier: str) -> str:
    """The split of a query, or of documents that belong together, by a hash of its id in the shares 3:1:1.

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
