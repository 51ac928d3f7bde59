"""The head over a pre-trained encoder once more, in float64 and without TensorFlow."""

import numpy as np
import numpy.typing as npt

from tests.reference import smooth_cosine


def encoder_head(
    epsilon: float,
    query_map: npt.ArrayLike,
    document_map: npt.ArrayLike,
    query: npt.ArrayLike,
    document: npt.ArrayLike,
) -> float:
    """Smooth cosine of the vectors of a pre-trained encoder, of length 1, under maps given less the identity."""
    mapped = []
    for difference, vector in ((query_map, query), (document_map, document)):
        unit = np.asarray(vector, np.float64) / (np.linalg.norm(vector) or 1.0)
        mapped.append(unit + np.asarray(difference, np.float64) @ unit)
    return smooth_cosine(*mapped, epsilon=epsilon)


def distance_from_identity(query_map: npt.ArrayLike, document_map: npt.ArrayLike) -> float:
    """The sum of the squares of the maps' differences from the identity."""
    return float(sum((np.asarray(matrix, np.float64) ** 2).sum() for matrix in (query_map, document_map)))
