"""The hash behind decisions that must come out the same wherever they are made."""

import hashlib


def stable_hash(*parts: str) -> int:
    """64 bits of the BLAKE2b digest of some strings, which hold no tab."""
    return int.from_bytes(hashlib.blake2b("\t".join(parts).encode(), digest_size=8).digest(), "big")
