"""The links between a wiki's articles. A link is both articles' numbers in the dump, packed into 64 bits."""

from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Links: TypeAlias = npt.NDArray[np.uint64]
"""Links [links], sorted and each once: 32 bits of the linking article, 32 of the linked one."""

_SHIFT: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)


def pack_links(sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]) -> Links:
    """Packs pairs of articles, without sorting them."""
    packed: Links = sources.astype(np.uint64) << _SHIFT | targets.astype(np.uint64)
    return packed


def unpack_links(links: Links) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the linking and the linked articles."""
    return (links >> _SHIFT).astype(np.int64), (links & _LOW).astype(np.int64)


def collect_links(parts: Iterable[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]], max_links: int) -> Links:
    """Packs and sorts links; drops those without an article and those from an article to itself.

    Args:
      parts: sources and targets, both [links]; a number below 0 is no article.
      max_links: an upper bound on the number of links, for which memory is allocated once.
    """
    links, count = np.empty(max_links, np.uint64), 0
    for sources, targets in parts:
        kept = (targets >= 0) & (sources >= 0) & (targets != sources)
        packed = pack_links(sources[kept], targets[kept])
        links[count : count + len(packed)] = packed
        count += len(packed)
    links = links[:count]
    links.sort()
    is_first = np.ones(count, np.bool_)
    is_first[1:] = links[1:] != links[:-1]
    unique: Links = links[is_first]
    return unique


def mutual_links(links: Links) -> Links:
    """Returns the links whose reverse is a link, too, in both directions.

    Example:
      >>> links = np.sort(pack_links(np.array([1, 2, 1], np.int32), np.array([2, 1, 3], np.int32)))
      >>> [links_from(mutual_links(links), article).tolist() for article in (1, 2)]
      [[2], [1]]
    """
    is_up = links >> _SHIFT < links & _LOW
    up = np.intersect1d(links[is_up], _reversed(links[~is_up]), assume_unique=True)
    both: Links = np.concatenate([up, _reversed(up)])
    both.sort()
    return both


def _reversed(links: Links) -> Links:
    reverse: Links = (links & _LOW) << _SHIFT | links >> _SHIFT
    return reverse


def links_from(links: Links, source: int) -> npt.NDArray[np.int64]:
    """Returns the articles to which an article links, in their order."""
    start, end = np.searchsorted(links, np.array([source, source + 1], np.uint64) << _SHIFT)
    targets: Links = links[start:end] & _LOW
    return targets.astype(np.int64)
