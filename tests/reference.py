"""The formulas once more, in float64 and without TensorFlow: what the models are compared with."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def smooth_cosine(query: npt.ArrayLike, document: npt.ArrayLike, epsilon: float) -> float:
    """arXiv:2011.00701, eq. 1; 0 where it would be 0 / 0."""
    query, document = np.asarray(query, np.float64), np.asarray(document, np.float64)
    denominator = (np.linalg.norm(query) + epsilon) * (np.linalg.norm(document) + epsilon)
    return float(query @ document / denominator) if denominator else 0.0


def mean_embedding(table: npt.ArrayLike, tokens: Sequence[int]) -> Vector:
    """tanh of the mean of the rows of a text's tokens; zero for a text without tokens."""
    rows = np.asarray(table, np.float64)[list(tokens)]
    return np.tanh(rows.sum(axis=0) / max(len(tokens), 1))


def sosl(grade: int, score: float, theta: Sequence[float]) -> float:
    """arXiv:2011.00701, eq. 2, for our grade y - 1."""
    bounds = [-1.0, *theta, 1.0]
    return max(score - bounds[grade + 1], 0.0) ** 2 + max(bounds[grade] - score, 0.0) ** 2


def sosl_of_list(grades: Sequence[int], scores: Sequence[float], theta: Sequence[float]) -> float:
    """Mean of eq. 2 over the documents of a list, padding (a negative grade) aside; 0 for padding alone."""
    losses = [sosl(grade, score, theta) for grade, score in zip(grades, scores, strict=True) if grade >= 0]
    return sum(losses) / max(len(losses), 1)
