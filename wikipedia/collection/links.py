"""The links between a wiki's articles, as pairs of their places in the dump packed into 64 bits each."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

Edges = npt.NDArray[np.uint64]
"""Links [links], sorted and each once: 32 bits of the article that links, 32 of the one that it links to."""

_SHIFT: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)


def pack(sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]) -> Edges:
    """Pairs of places, unsorted."""
    return sources.astype(np.uint64) << _SHIFT | targets.astype(np.uint64)


def collect(parts: Iterable[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]], most: int) -> Edges:
    """Links from parts of (sources, targets), without those to no article or to the article itself.

    Args:
      parts: both [links]; a target below 0 is no article.
      most: links of all parts together, at most: room is made for them once, and not while they come.
    """
    edges, count = np.empty(most, np.uint64), 0
    for sources, targets in parts:
        kept = (targets >= 0) & (sources >= 0) & (targets != sources)
        packed = pack(sources[kept], targets[kept])
        edges[count : count + len(packed)] = packed
        count += len(packed)
    edges = edges[:count]
    edges.sort()
    is_first = np.ones(count, np.bool_)
    is_first[1:] = edges[1:] != edges[:-1]
    unique: Edges = edges[is_first]
    return unique


def mutual(edges: Edges) -> Edges:
    """The links whose reverse is a link, too; both directions stay.

    Example:
      >>> both = mutual(np.sort(pack(np.array([1, 2, 1], np.int32), np.array([2, 1, 3], np.int32))))
      >>> [[int(article) for article in targets(both, source)] for source in (1, 2)]
      [[2], [1]]
    """
    is_up = edges >> _SHIFT < edges & _LOW
    down = edges[~is_up]
    down = (down & _LOW) << _SHIFT | down >> _SHIFT
    up = np.intersect1d(edges[is_up], down, assume_unique=True)
    both: Edges = np.concatenate([up, (up & _LOW) << _SHIFT | up >> _SHIFT])
    both.sort()
    return both


def targets(edges: Edges, source: int) -> npt.NDArray[np.int64]:
    """The articles that an article links to, in their order."""
    start, end = np.searchsorted(edges, np.array([source, source + 1], np.uint64) << _SHIFT)
    return (edges[start:end] & _LOW).astype(np.int64)


def count_common(one: Edges, other: Edges) -> int:
    """How many links both have."""
    return len(np.intersect1d(one, other, assume_unique=True))
