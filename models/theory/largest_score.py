"""An upper bound on scores. Importing this file does not import TensorFlow."""

import math

from models.rankers.settings import ScorerSettings, TwoTowersSettings


def largest_score(settings: ScorerSettings) -> float:
    """An upper bound on abs(score); infinite if unknown.

    An encoder declares c, an upper bound on the magnitude of its vectors' components: 1 for outputs of tanh. A vector
    of n components is then at most c sqrt(n) long, and a score of two towers at most

        (c sqrt(n) / (c sqrt(n) + epsilon))^2   smooth cosine
        1                                       cosine
        c^2 n                                   dot

    Two vectors with all components at c reach the bound.

    Example:
      >>> round(largest_score(TwoTowersSettings(embedding_dim=64, epsilon=1)), 3)  # (8 / 9)^2
      0.79
    """
    if not isinstance(settings, TwoTowersSettings):
        return math.inf
    length = settings.encoder.largest_component * math.sqrt(settings.embedding_dim)
    match settings.similarity:
        case "smooth_cosine" if math.isfinite(length):
            return (length / (length + settings.epsilon)) ** 2
        case "dot":
            return length**2
        case _:
            return 1.0
