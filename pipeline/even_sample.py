"""An even sample of items that come one after the other."""

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")

SAMPLE: Final = 4096


class EvenSample(Generic[Item]):
    """Every n-th item, counted from the first; of many items, n is such that 4,096 to 8,191 are kept.

    Attributes:
      items: the kept items.
      number: the number of all items.

    Example:
      >>> sample = EvenSample(range(20_000))
      >>> sample.items[:3], len(sample.items), sample.number
      ([0, 4, 8], 5000, 20000)
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self.items: list[Item] = []
        self.number, step = 0, 1
        for item in items:
            if self.number % step == 0:
                self.items.append(item)
                if len(self.items) == 2 * SAMPLE:
                    self.items, step = self.items[::2], 2 * step
            self.number += 1

    @property
    def is_whole(self) -> bool:
        """Whether it has all items."""
        return len(self.items) == self.number
