"""How high a score can be. Importing this file does not import TensorFlow."""

import math

from models.settings import ModelSettings


def largest_score(settings: ModelSettings) -> float:
    """What no score of a ranker exceeds, and none falls below its negative.

    The encoders end in tanh, so a vector of n components is at most sqrt(n) long, and a score at most

        (sqrt(n) / (sqrt(n) + epsilon))^2   smooth cosine
        1                                   cosine
        n                                   dot

    which two vectors with all components at 1 have.

    Example:
      >>> round(largest_score(ModelSettings(embedding_dim=64, epsilon=1)), 3)  # (8 / 9)^2
      0.79
    """
    length = math.sqrt(settings.embedding_dim)
    match settings.similarity:
        case "smooth_cosine":
            return (length / (length + settings.epsilon)) ** 2
        case "cosine":
            return 1.0
        case "dot":
            return float(settings.embedding_dim)
