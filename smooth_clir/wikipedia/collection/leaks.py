"""Finds leaks in a collection: title words in queries, and documents that are nearly the same in two splits.

Near-duplicates are found by min-wise hashing of shingles. The probability that a hash of two signatures agrees is the
Jaccard similarity of the texts' sets of shingles.
Source: Broder, On the resemblance and containment of documents (1997).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

_STEM: Final = 4
"""Letters that make two words alike: `planets` is like Planet, but `wolves` is not like Wolf."""
_WORD: Final = re.compile(r"\w+")


@dataclass
class QueryAudit:
    """Counts queries that contain words of their pages' names.

    Attributes:
      queries: all queries.
      title_words: queries with a word of the title; must be 0, because these words are removed.
      alike: queries with a word that begins like a word of the title, with the same four letters.
      redirect_words: queries with a word of at least four letters of a redirect to the page.
    """

    queries: int = 0
    title_words: int = 0
    alike: int = 0
    redirect_words: int = 0

    def add(self, query: str, title: str, redirects: Sequence[str]) -> None:
        words, names = _words(query), _words(title)
        self.queries += 1
        self.title_words += not words.isdisjoint(names)
        stems = {name[:_STEM] for name in names if len(name) >= _STEM}
        self.alike += any(word[:_STEM] in stems for word in words)
        redirect_words = {word for name in redirects for word in _words(name) if len(word) >= _STEM}
        self.redirect_words += not words.isdisjoint(redirect_words - names)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


HASHES: Final = 6
"""Hashes of a signature."""
AGREEING: Final = 5
"""Hashes in which near-duplicates agree. The probability is .89 for texts that share nine of ten shingles, and .11 for
texts that share half of them."""

_HALF: Final = 8
"""Bytes of half a shingle. A shingle is as long as three English words."""
_HALVES: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_FACTORS: Final = np.array(
    [0x9E3779B185EBCA87, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53,
     0xD6E8FEB86659FD93], np.uint64
)  # fmt: skip
_MAX_COMPARED: Final = 100
"""Largest number of texts that a text is compared with; a few of many equal texts are enough."""


def signature(text: str) -> npt.NDArray[np.uint32]:
    """Returns the signature of a text, [`HASHES`], over all its runs of 16 bytes of UTF-8.

    Example:
      >>> same = signature("The wolf lives in packs, and howls.") == signature("The wolf lives in packs, and howls!")
      >>> int(same.sum())
      6
    """
    content = text.encode().ljust(2 * _HALF, b"\0")
    # Every run of 8 bytes as a number, wherever it starts. The products wrap around on purpose.
    runs: npt.NDArray[np.uint64] = np.ndarray(len(content) - _HALF + 1, "<u8", content, strides=(1,))
    shingles = runs[:-_HALF] * _HALVES[0] ^ runs[_HALF:] * _HALVES[1]
    shingles ^= shingles >> np.uint64(32)
    smallest: npt.NDArray[np.uint64] = (shingles * _FACTORS[:, None]).min(axis=1) >> np.uint64(32)
    return smallest.astype(np.uint32)


def near_duplicates(
    signatures: npt.NDArray[np.uint32], held_out: npt.NDArray[np.int64], candidates: npt.NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """Yields each held-out text that has a near-duplicate among the candidates, and its first near-duplicate.

    Args:
      signatures: [texts, `HASHES`].
      held_out: the rows of the held-out texts.
      candidates: the rows of the other texts; held-out texts among them are left out.
    """
    candidates = np.setdiff1d(candidates, held_out)
    duplicates: dict[int, int] = {}
    # If five of six hashes agree, then both hashes of one of three pairs agree.
    for first in range(0, HASHES, 2):
        keys = signatures[:, first].astype(np.uint64) << np.uint64(32) | signatures[:, first + 1]
        order = candidates[np.argsort(keys[candidates], kind="stable")]
        starts = np.searchsorted(keys[order], keys[held_out], "left")
        ends = np.searchsorted(keys[order], keys[held_out], "right")
        for text, start, end in zip(held_out.tolist(), starts.tolist(), ends.tolist(), strict=True):
            for candidate in order[start : min(end, start + _MAX_COMPARED)].tolist():
                if int((signatures[text] == signatures[candidate]).sum()) >= AGREEING:
                    duplicates[text] = min(candidate, duplicates.get(text, candidate))
    yield from sorted(duplicates.items())
