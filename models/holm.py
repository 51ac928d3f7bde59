"""Holm's correction of the p-values of several comparisons."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction (1979): p-values that hold for all comparisons together.

    The k-th smallest of m is multiplied by m - k + 1; it is not below the one before it, nor above 1.

    Example:
      >>> holm([0.01, 0.04, 0.03])  # 3 * 0.01; 2 * 0.03; 1 * 0.04, and not below 0.06
      [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for smaller, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - smaller) * p_values[place]))
        corrected[place] = highest
    return corrected
