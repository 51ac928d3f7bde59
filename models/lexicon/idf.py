"""How rare a term is."""

from typing import Any

import numpy as np


def idf(documents: int, frequency: Any) -> Any:
    """The inverse document frequency of terms: above 0, however frequent they are.

        idf(w) = ln(1 + (N - df(w) + 1/2) / (df(w) + 1/2)) = ln((N + 1) / (df(w) + 1/2))

    Args:
      documents: N, of the collection.
      frequency: df, float [...], 0 .. N.

    Example:
      >>> float(idf(9, 0.5)), float(idf(9, 9.5))
      (2.30258509299..., 0.0)
    """
    return np.log((documents + 1) / (np.asarray(frequency, np.float64) + 0.5))
