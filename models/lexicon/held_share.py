"""How far a document holds a term, read off the term's weight in it."""

import numpy as np
import numpy.typing as npt

from models.lexicon.structured_queries import K1, B

_Floats = npt.NDArray[np.float32]


def held_share(weight: _Floats, idf: _Floats, length: _Floats, mean_length: float) -> _Floats:
    """min(1, tf') of terms in documents, whose sum over the documents is df' (see `models.lexicon.learn_lexicon`).

        weight = idf tf' (K1 + 1) / (tf' + norm), norm = K1 (1 - B + B length / mean_length)
        tf' = weight norm / (idf (K1 + 1) - weight)

    Args:
      weight: what `StructuredQueries.document_terms` gives, above 0, float [...].
      idf: of the terms, above 0, float [...].
      length: of the documents, in terms, float [...].
      mean_length: that of the lexicon, above 0.

    Returns:
      float [...], each in (0, 1].

    Example:
      >>> one = lambda value: np.array([value], np.float32)
      >>> held_share(one(2.0 * 0.5 * 2.2 / (0.5 + 1.2)), one(2.0), one(7.0), 7.0).round(6).tolist()  # tf' = 0.5
      [0.5]
    """
    of_length = weight * (K1 * (1 - B + B * length / mean_length)).astype(np.float32)
    share: _Floats = of_length / np.maximum(idf * np.float32(K1 + 1) - weight, of_length)
    return share
