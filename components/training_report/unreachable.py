"""Where a loss wants scores that no vectors have. Importing this file does not import TensorFlow."""

from models.losses.declarations import ENDS, LOSSES
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
    for grade, (low, high) in enumerate(LOSSES[loss.name].targets(loss.theta or (), ENDS)):
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
