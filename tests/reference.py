"""The formulas once more, in float64 and without TensorFlow: what the models are compared with."""

from collections.abc import Callable, Sequence

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


def mse(grade: int, score: float, theta: Sequence[float]) -> float:
    """Squared distance to the middle of the grade's band."""
    bounds = [-1.0, *theta, 1.0]
    return (score - (bounds[grade] + bounds[grade + 1]) / 2) ** 2


def proportional_odds(grade: int, score: float, theta: Sequence[float]) -> float:
    """Minus the logarithms of the two odds, as the authors' code has them; for scores far from 0 not accurate."""
    bounds = [-1.0, *theta, 1.0]
    return float(-np.log(sigmoid(bounds[grade + 1] - score)) - np.log(1 - sigmoid(bounds[grade] - score)))


def three_part_l2(grade: int, score: float, theta: Sequence[float]) -> float:
    """NR above the first threshold, SR above the second, MR below the third: the square of the difference."""
    return max([score - theta[0], score - theta[1], theta[2] - score][grade], 0.0) ** 2


def softmax(grades: Vector, scores: Vector) -> float:
    """Cross entropy of the softmax of a list's scores with its grades."""
    probabilities = np.exp(scores) / np.exp(scores).sum()
    return float(-(grades * np.log(probabilities)).sum())


def approx_ndcg(grades: Vector, scores: Vector) -> float:
    """Minus NDCG, of exponential gain, with sigmoids of temperature 0.1 for the steps in the ranks."""
    gains = 2**grades - 1
    ranks = [0.5 + sum(sigmoid((other - score) / 0.1) for other in scores) for score in scores]
    ideal = (np.sort(gains)[::-1] / np.log2(2 + np.arange(len(gains)))).sum()
    return float(-(gains / np.log2(1 + np.array(ranks))).sum() / ideal) if ideal else 0.0


def pairwise_hinge(grades: Vector, scores: Vector) -> float:
    """Hinges of the pairs with different grades, summed for each document, and the mean over these."""
    documents = list(zip(grades, scores, strict=True))
    hinges = [max(1 - (score - other), 0) for grade, score in documents for lower, other in documents if grade > lower]
    return float(sum(hinges) / len(documents))


def sigmoid(logit: float) -> float:
    """The logistic function."""
    return float(1 / (1 + np.exp(-logit)))


PAIR_LOSSES = {"sosl": sosl, "mse": mse, "proportional_odds": proportional_odds, "three_part_l2": three_part_l2}
LIST_LOSSES = {"softmax": softmax, "approx_ndcg": approx_ndcg, "pairwise_hinge": pairwise_hinge}


def loss_of_list(
    name: str, grades: Sequence[int], scores: Sequence[float], theta: Sequence[float] | None = None
) -> float:
    """A list's loss, by its name in a configuration; padding (a negative grade) aside, and 0 for padding alone.

    That of single documents is their mean.
    """
    documents = [(grade, score) for grade, score in zip(grades, scores, strict=True) if grade >= 0]
    if not documents:
        return 0.0
    if name in LIST_LOSSES:
        return LIST_LOSSES[name](*np.array(documents, np.float64).T)
    assert theta is not None
    return sum(PAIR_LOSSES[name](grade, score, theta) for grade, score in documents) / len(documents)


def slopes(function: Callable[[Vector], float], at: npt.ArrayLike, step: float = 1e-6) -> Vector:
    """The gradient of a function, by central differences."""
    at = np.asarray(at, np.float64)
    gradient = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        ahead, behind = at.copy(), at.copy()
        ahead[place] += step
        behind[place] -= step
        gradient[place] = (function(ahead) - function(behind)) / (2 * step)
    return gradient
