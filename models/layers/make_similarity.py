"""From a configuration to the similarity that it names."""

from models.layers.dot_product import DotProduct
from models.layers.similarity import Similarity
from models.layers.smooth_cosine import SmoothCosine
from models.settings import ModelSettings


def make_similarity(settings: ModelSettings) -> Similarity:
    """The layer that scores: plain cosine is the smooth one without epsilon."""
    if settings.similarity == "dot":
        return DotProduct(settings.embedding_dim)
    return SmoothCosine(settings.epsilon if settings.similarity == "smooth_cosine" else 0.0)
