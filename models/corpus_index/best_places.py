"""The best of many scores, with all that are equal to the last of them."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

_BLOCK: Final = 256


def best_places(scores: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.int64]:
    """The places of the best scores, and of those that are equal to the last of these, in no order.

    The best of a block is found first: so many blocks as are asked for hold so many scores at least as good as the last
    of their bests, so that all smaller ones need no second look.

    Args:
      scores: float32 [documents]; -inf is the score of nothing.
      most: 1 at least.

    Example:
      >>> best_places(np.array([0.5, 2.0, 1.0, 1.0], np.float32), 2).tolist()
      [1, 2, 3]
    """
    whole = len(scores) // _BLOCK * _BLOCK
    bests = scores[:whole].reshape(-1, _BLOCK).max(axis=1)
    least = _last_of_best(bests, most) if len(bests) >= most else -np.inf
    places = np.flatnonzero((scores >= least) & (scores > -np.inf))
    if len(places) <= most:
        return places
    found: npt.NDArray[np.int64] = places[scores[places] >= _last_of_best(scores[places], most)]
    return found


def _last_of_best(scores: npt.NDArray[np.float32], most: int) -> Any:
    return np.partition(scores, -most)[-most]
