"""Where a loss wants scores that no vectors have. Importing this file does not import TensorFlow."""

import math
from collections.abc import Sequence
from itertools import pairwise

from models.settings import LossSettings, ModelSettings
from models.theory.largest_score import largest_score


def unreachable(model: ModelSettings, loss: LossSettings) -> list[str]:
    """A sentence for each grade that no score can satisfy; those that are learned are judged by their first values.

    Example:
      >>> unreachable(ModelSettings(embedding_dim=64, epsilon=1), LossSettings(name="mse"))
      ['with embedding_dim 64 and epsilon 1 no score exceeds 0.790; mse aims at 0.85 for grade 2, which cannot be ...']
    """
    largest = largest_score(model)
    epsilon = f" and epsilon {model.epsilon:g}" if model.similarity == "smooth_cosine" else ""
    sentences = []
    for grade, (low, high) in enumerate(_wanted(loss.name, loss.theta or ())):
        if low > largest:
            limit, aim = f"exceeds {largest:.3f}", f"{low:.3g}" + (" or more" if low < high else "")
        elif high < -largest:
            limit, aim = f"is below {-largest:.3f}", f"{high:.3g}" + (" or less" if low < high else "")
        else:
            continue
        sentences.append(
            f"with embedding_dim {model.embedding_dim}{epsilon} no score {limit}; {loss.name} aims at {aim} for grade "
            f"{grade}, which cannot be reached"
        )
    return sentences


def _wanted(name: str, theta: Sequence[float]) -> list[tuple[float, float]]:
    """The lowest and the highest score of the least loss, for each grade; none for a loss without thresholds."""
    bands = list(pairwise((-1.0, *theta, 1.0)))
    match name:
        case "sosl":
            return bands
        case "mse" | "proportional_odds":
            return [((low + high) / 2,) * 2 for low, high in bands]
        case "three_part_l2":
            return [(-math.inf, theta[0]), (-math.inf, theta[1]), (theta[2], math.inf)]
    return []
