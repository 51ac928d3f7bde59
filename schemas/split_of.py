"""Which split a query belongs to, by its id alone: a rerun, and whoever asks, finds the same."""

from schemas.features import SPLIT_SHARES, SPLITS
from schemas.stable_hash import stable_hash


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
