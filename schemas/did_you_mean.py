"""The hint that a fault ends with where a known word is near to the one that came."""

import difflib
import os
from collections.abc import Iterable


def did_you_mean(came: str, known: Iterable[str]) -> str:
    """Names the nearest known word.

    Args:
      came: the mistaken word.
      known: the words that are allowed.

    Returns:
      what to put after the fault's text: "; did you mean epochs?", or nothing where no word is near.

    Example:
      >>> did_you_mean("epoch", ["epochs", "seed"])
      '; did you mean epochs?'
      >>> did_you_mean("zzz", ["epochs", "seed"])
      ''
    """

    def likeness(word: str) -> tuple[float, int]:
        # Of equally near words the one that begins alike: eng is en rather than ng.
        pair = word.lower(), came.lower()
        return difflib.SequenceMatcher(None, *pair).ratio(), len(os.path.commonprefix(pair))

    best = max(sorted(known), key=likeness)
    return f"; did you mean {best}?" if likeness(best)[0] >= 0.5 else ""
