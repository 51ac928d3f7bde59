"""The weight of a term in BM25 (Robertson and Zaragoza 2009).

weight = idf * tf * (K1 + 1) / (tf + length_norm)
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

K1: Final = 1.2
B: Final = 0.75

_Floats = npt.NDArray[np.float32]


def idf(documents: int, frequency: Any) -> Any:
    """The inverse document frequency of terms, above 0.

        idf = ln(1 + (N - df + 1/2) / (df + 1/2)) = ln((N + 1) / (df + 1/2))

    Args:
      documents: N, the number of documents in the collection.
      frequency: df, float [...], 0 .. N.

    Returns:
      float64 [...].

    Example:
      >>> float(idf(9, 0.5)), float(idf(9, 9.5))
      (2.30258509299..., 0.0)
    """
    return np.log((documents + 1) / (np.asarray(frequency, np.float64) + 0.5))


def length_norm(length: Any, mean_length: float) -> Any:
    """K1 * (1 - B + B * length / mean_length), which weighs the terms of long documents less.

    Args:
      length: numbers of terms of documents, an array or a tensor of floats [...].
      mean_length: the mean of the collection; a collection without terms counts as 1.

    Returns:
      [...], of the same type.
    """
    return K1 * (1 - B + B * length / (mean_length or 1.0))


def held_share(weight: _Floats, idf: _Floats, length: _Floats, mean_length: float) -> _Floats:
    """min(1, tf) of terms in documents, from their weights.

        tf = weight * length_norm / (idf * (K1 + 1) - weight)

    Its sum over the documents is the document frequency df' of `models.lexicon.learn_lexicon`.

    Args:
      weight: weights from `StructuredQueries.document_terms`, above 0, float [...].
      idf: the terms' inverse document frequencies, above 0, float [...].
      length: the documents' numbers of terms, float [...].
      mean_length: the mean length in the lexicon.

    Returns:
      float [...], each in (0, 1].

    Example:
      >>> array = lambda value: np.array([value], np.float32)
      >>> held_share(array(2.0 * 0.5 * 2.2 / (0.5 + 1.2)), array(2.0), array(7.0), 7.0).round(6).tolist()  # tf = 0.5
      [0.5]
    """
    normed = weight * length_norm(length, mean_length).astype(np.float32)
    share: _Floats = normed / np.maximum(idf * np.float32(K1 + 1) - weight, normed)
    return share
