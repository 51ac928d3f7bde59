"""Ranges of numbers as one array: how rows are taken from what holds all of them."""

from typing import Any

import numpy as np
import numpy.typing as npt


def joined_ranges(starts: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The numbers of ranges, one range after the other.

    Example:
      >>> joined_ranges(np.array([7, 2]), np.array([2, 3])).tolist()
      [7, 8, 2, 3, 4]
    """
    before = np.cumsum(lengths) - lengths
    numbers: npt.NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return numbers
