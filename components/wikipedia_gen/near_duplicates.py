"""Signatures of texts, of which near-duplicates have nearly the same: min-wise hashing of word shingles.

Two signatures agree at a place with the probability that is the Jaccard similarity of the texts' sets of shingles.
Source: Broder, On the resemblance and containment of documents (1997).
"""

import zlib
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

HASHES: Final = 6
"""Places of a signature."""
AGREEING: Final = 5
"""Near-duplicates agree at so many places: texts that share nine of ten shingles do with a probability of .89, texts
that share half of them with .11."""

_SHINGLE: Final = 3
"""Words."""
_FACTORS: Final = np.array([0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F, 0x165667B1, 0xD3A2646D], np.uint32)


def signature(text: str) -> npt.NDArray[np.uint32]:
    """The signature of a text, [`HASHES`].

    Example:
      >>> same = signature("The wolf  lives in packs") == signature("The wolf lives in packs")
      >>> int(same.sum())
      6
    """
    words = [zlib.crc32(word.encode()) for word in text.split()]
    hashes = np.array(words or [0], np.uint32)
    if len(hashes) >= _SHINGLE:
        # A shingle's words count by their places: wrapping around is what these numbers are for.
        hashes = hashes[:-2] * np.uint32(0x01000193) + hashes[1:-1] * np.uint32(0x5BD1E995) + hashes[2:]
    hashes = hashes ^ (hashes >> np.uint32(15))
    spread = hashes * _FACTORS[:, None]
    smallest: npt.NDArray[np.uint32] = (spread ^ (spread >> np.uint32(13))).min(axis=1)
    return smallest


def near_duplicates(
    signatures: npt.NDArray[np.uint32], held_out: npt.NDArray[np.int64], others: npt.NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """Pairs of texts of two sets that are nearly the same: of each held-out text the first of the others.

    Args:
      signatures: [texts, `HASHES`].
      held_out: places of the texts of one set.
      others: places of the texts of the other set; those in both are none's duplicates.
    """
    others = np.setdiff1d(others, held_out)
    found: dict[int, int] = {}
    # Six places of which five agree: one of three pairs of places agrees as a whole.
    for first in range(0, HASHES, 2):
        keys = signatures[:, first].astype(np.uint64) << np.uint64(32) | signatures[:, first + 1]
        order = others[np.argsort(keys[others], kind="stable")]
        starts = np.searchsorted(keys[order], keys[held_out], "left")
        ends = np.searchsorted(keys[order], keys[held_out], "right")
        for text, start, end in zip(held_out.tolist(), starts.tolist(), ends.tolist(), strict=True):
            for other in order[start : min(end, start + _LOOKED_AT)].tolist():
                if int((signatures[text] == signatures[other]).sum()) >= AGREEING:
                    found[text] = min(other, found.get(text, other))
    yield from sorted(found.items())


_LOOKED_AT: Final = 100
"""Of many that are the same a few are enough."""
