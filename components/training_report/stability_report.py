"""What the paper's theory says of a training, beside what was seen in it. Importing it does not import TensorFlow."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.training_report.unreachable import unreachable
from models.losses.declarations import ENDS, LOSSES
from models.settings import LossSettings, ModelSettings
from models.theory.largest_score import largest_score
from models.theory.lemma_2 import Constants, loss_in_tables
from models.theory.proposition_1 import LossConstants
from models.theory.theorem_3 import generalization_bound, uniform_stability

_DELTA = 0.05


def stability_report(
    model: ModelSettings, loss: LossSettings, learning_rate: float, training: Mapping[str, Any]
) -> dict[str, Any]:
    """The stability of a training, for machines; `describe_stability` tells it to a person.

    Args:
      model, loss: its settings.
      learning_rate: of the word embeddings; stands for the constant c of Theorem 3's step sizes, c / t.
      training: the content of training.json.

    Returns:
      `gradient_bound`: what a score's gradient in either vector cannot exceed (1 / epsilon), `paper_gradient_bound`:
      the paper's (2 / epsilon); `largest_score_gradient`, `largest_score_gradient_plain_cosine`: seen on the eval
      split, over all epochs; `clipped_share` of all steps; `loss_lipschitz`, `loss_smoothness`: Proposition 1, at the
      exported epoch's thresholds; `theorem_3`: see below; `largest_score`; `unreachable`: sentences. Null stands for
      what is infinite, or not known of this loss or similarity.

      `theorem_3` holds `bound`, `beta`, `lipschitz` and `smoothness` (of the loss in the tables), `largest_loss`, what
      they are made of (`pairs`, `steps` up to the exported epoch, `step_constant`, `delta`), a `sentence` that says
      what the bound is worth, and a `caveat`.
    """
    history: Sequence[Mapping[str, Any]] = training["history"]
    # What Proposition 1 says holds for scores between the ends of the thresholds' scale.
    constants = None
    if largest_score(model) <= ENDS[1]:
        constants = LOSSES[loss.name].constants(training["theta"] or loss.theta or (), ENDS)
    smooth = model.similarity == "smooth_cosine" and model.epsilon > 0
    return {
        "gradient_bound": history[0].get("score_gradient/bound"),
        "paper_gradient_bound": 2 / model.epsilon if smooth else None,
        "largest_score_gradient": max(row["score_gradient/max"] for row in history),
        "largest_score_gradient_plain_cosine": max(row["score_gradient/plain_cosine_max"] for row in history),
        "clipped_share": sum(row["train/clipped_share"] for row in history) / len(history),
        "loss_lipschitz": constants and constants.lipschitz,
        "loss_smoothness": constants and constants.smoothness,
        # Learned thresholds are weights, too, of which the constants know nothing.
        "theorem_3": None
        if constants is None or loss.learn_theta
        else _theorem_3(constants, model, learning_rate, training),
        "largest_score": largest_score(model),
        "unreachable": unreachable(model, loss),
    }


def _theorem_3(
    loss: LossConstants, model: ModelSettings, learning_rate: float, training: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Theorem 3 at the exported epoch; None where its constants are not known."""
    pairs = training["train_pairs"]
    in_tables = loss_in_tables(Constants(loss.lipschitz, loss.smoothness), model)
    if in_tables is None or pairs < 2:
        return None
    steps = training["steps"] // len(training["history"]) * training["best_epoch"]
    # Theorem A.4 wants a loss within [0, 1].
    scaled = Constants(in_tables.lipschitz / loss.largest, in_tables.smoothness / loss.largest)
    beta = loss.largest * uniform_stability(scaled, learning_rate, pairs, steps)
    bound = generalization_bound(beta, loss.largest, pairs, _DELTA)
    verdict = "below" if bound < loss.largest else "not below, and says nothing"
    sentence = (
        f"With probability {1 - _DELTA:g} the expected loss of a pair is at most {bound:.4g} above its mean on the "
        f"{pairs:,} train pairs, after {steps:,} steps. No loss exceeds {loss.largest:.4g}: the bound is {verdict}."
    )
    caveat = (
        "The bound is a yardstick and no promise: the theorem is about independent pairs and SGD, one pair a step, "
        f"with steps of c/t, where c is taken to be the learning rate, {learning_rate:g}; the pairs of a query share "
        "it, and training took steps of Adam over whole lists."
    )
    return {
        "bound": bound,
        "largest_loss": loss.largest,
        "beta": beta,
        "lipschitz": in_tables.lipschitz,
        "smoothness": in_tables.smoothness,
        "pairs": pairs,
        "steps": steps,
        "step_constant": learning_rate,
        "delta": _DELTA,
        "sentence": sentence,
        "caveat": caveat,
    }
