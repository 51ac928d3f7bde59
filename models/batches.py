"""Batches of items."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

_Item = TypeVar("_Item")


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Items in lists of one size; the last may be shorter.

    Example:
      >>> list(batches("abc", 2))
      [['a', 'b'], ['c']]
    """
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
