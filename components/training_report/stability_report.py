"""Reports the stability of a training beside the bounds of the paper's theory. Does not import TensorFlow."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from models.losses.proposition_1 import LossConstants
from models.losses.settings import ENDS, LossSettings
from models.rankers.settings import ScorerSettings, TwoTowersSettings
from models.theory.largest_score import largest_score
from models.theory.lemma_2 import Constants, loss_in_tables
from models.theory.theorem_3 import generalization_bound, uniform_stability
from models.training.settings import TrainingSettings
from schemas.stability import STABILITY_FILE, Stability, Theorem3
from schemas.training_history import HISTORY_FILE, TrainingHistory

_DELTA: Final = 0.05
_NO_THEOREM: Final = (
    "not evaluated. Its constants are known for the paper's mean encoder, smooth cosine and a loss of single documents "
    "whose thresholds are not learned, without terms over a batch."
)


def training_files(
    history: str, towers: ScorerSettings, loss: LossSettings, top_grade: int, training: TrainingSettings
) -> dict[str, str]:
    """Returns the files of a training's history and stability.

    Args:
      history: the content of `training.json`.
      towers, loss, training: the training's settings.
      top_grade: the MR grade.
    """
    step = training.number("learning_rate") * training.number("embedding_factor")
    report = stability_report(towers, loss, top_grade, step, TrainingHistory.from_json(history))
    return {
        f"training/{HISTORY_FILE}": history,
        f"training/{STABILITY_FILE}": report.to_json(),
        "training/stability.md": describe_stability(report),
    }


def stability_report(
    towers: ScorerSettings, loss: LossSettings, top_grade: int, learning_rate: float, training: TrainingHistory
) -> Stability:
    """Returns the content of `stability.json`; `describe_stability` describes it.

    Args:
      towers, loss: the training's settings.
      top_grade: the MR grade.
      learning_rate: the word embeddings' learning rate, taken as the constant c of Theorem 3's step sizes, c / t.
      training: the training's history.
    """
    history = [epoch.figures for epoch in training.history]
    # Proposition 1 holds for scores between the ends of the thresholds' scale.
    constants = None
    if largest_score(towers) <= ENDS[1]:
        theta = tuple(training.theta) if training.theta else loss.thresholds
        constants = loss.theory.constants(theta or (), ENDS)
    epsilon = towers.epsilon if isinstance(towers, TwoTowersSettings) and towers.has_epsilon else 0.0
    return Stability(
        gradient_bound=history[0].get("score_gradient/bound"),
        paper_gradient_bound=2 / epsilon if epsilon else None,
        largest_score_gradient=_largest(history, "score_gradient/max"),
        largest_score_gradient_plain_cosine=_largest(history, "score_gradient/plain_cosine_max"),
        clipped_share=sum(row["train/clipped_share"] for row in history) / len(history),
        loss_lipschitz=constants and constants.lipschitz,
        loss_smoothness=constants and constants.smoothness,
        # The constants cover neither learned thresholds, which are weights too, nor terms over a batch.
        theorem_3=None
        if constants is None or loss.learns_theta or loss.is_over_batch
        else _theorem_3(constants, towers, learning_rate, training),
        largest_score=largest if math.isfinite(largest := largest_score(towers)) else None,
        unreachable=tuple(unreachable(towers, loss, top_grade)),
    )


def _largest(history: Sequence[Mapping[str, float]], name: str) -> float | None:
    """Returns the largest value of a figure; None if the scorer lacks it."""
    return max((figures[name] for figures in history if name in figures), default=None)


def _theorem_3(
    loss: LossConstants, towers: ScorerSettings, learning_rate: float, training: TrainingHistory
) -> Theorem3 | None:
    """Evaluates Theorem 3 at the exported epoch; None if its constants are not known."""
    pairs = training.train_pairs
    in_tables = loss_in_tables(Constants(loss.lipschitz, loss.smoothness), towers)
    if in_tables is None or pairs < 2:
        return None
    steps = training.steps // len(training.history) * training.best_epoch
    # Theorem A.4 holds for a loss within [0, 1].
    scaled = Constants(in_tables.lipschitz / loss.largest, in_tables.smoothness / loss.largest)
    beta = loss.largest * uniform_stability(scaled, learning_rate, pairs, steps)
    bound = generalization_bound(beta, loss.largest, pairs, _DELTA)
    verdict = "is below" if bound < loss.largest else "says nothing"
    sentence = (
        f"With probability {1 - _DELTA:g} the expected loss of a pair is at most {bound:.4g} above its mean on the "
        f"{pairs:,} train pairs, after {steps:,} steps. No loss exceeds {loss.largest:.4g}: the bound {verdict}."
    )
    caveat = (
        "The bound is a yardstick, not a promise: the theorem is about independent pairs and SGD, one pair a step, "
        f"with steps of c/t, where c is taken to be the learning rate, {learning_rate:g}; the pairs of a query are not "
        "independent, and training took steps of Adam over whole lists."
    )
    return Theorem3(
        bound=bound,
        largest_loss=loss.largest,
        beta=beta,
        lipschitz=in_tables.lipschitz,
        smoothness=in_tables.smoothness,
        pairs=pairs,
        steps=steps,
        step_constant=learning_rate,
        delta=_DELTA,
        sentence=sentence,
        caveat=caveat,
    )


def unreachable(towers: ScorerSettings, loss: LossSettings, top_grade: int) -> list[str]:
    """Returns a sentence for each grade that no score can reach, by the first values of learned thresholds.

    Example:
      >>> from models.losses.settings import MseSettings
      >>> unreachable(TwoTowersSettings(embedding_dim=64, epsilon=1), MseSettings(), top_grade=2)
      ['with embedding_dim 64 and epsilon 1 no score exceeds 0.790; mse aims at 0.85 for grade 2, which cannot be ...']
    """
    largest = largest_score(towers)
    if not isinstance(towers, TwoTowersSettings):
        return []  # no bound is known
    epsilon = f" and epsilon {towers.epsilon:g}" if towers.has_epsilon else ""
    sentences = []
    for grade, (low, high) in enumerate(loss.targets_of_grades(top_grade)):
        if low > largest:
            limit, aim = f"exceeds {largest:.3f}", f"{low:.3g}" + (" or more" if low < high else "")
        elif high < -largest:
            limit, aim = f"is below {-largest:.3f}", f"{high:.3g}" + (" or less" if low < high else "")
        else:
            continue
        sentences.append(
            f"with embedding_dim {towers.embedding_dim}{epsilon} no score {limit}; {loss.kind} aims at {aim} for grade "
            f"{grade}, which cannot be reached"
        )
    return sentences


def describe_stability(report: Stability) -> str:
    """Returns the content of `stability.md`."""
    theorem = report.theorem_3
    rows = {
        "largest gradient of a score, seen on the eval split": report.largest_score_gradient,
        "its bound (1/ε with smooth cosine)": report.gradient_bound,
        "its bound in the paper (2/ε)": report.paper_gradient_bound,
        "the same gradient with plain cosine": report.largest_score_gradient_plain_cosine,
        "share of steps whose gradient was clipped": report.clipped_share,
        "Lipschitz constant of the loss in the score (Proposition 1)": report.loss_lipschitz,
        "smoothness of the loss in the score (Proposition 1)": report.loss_smoothness,
        "Lipschitz constant of the loss in the word embeddings (Lemma 2)": theorem.lipschitz if theorem else None,
        "smoothness of the loss in the word embeddings (Lemma 2)": theorem.smoothness if theorem else None,
        "stability β (Theorem A.4)": theorem.beta if theorem else None,
        "bound of the generalization error (Theorem 3)": theorem.bound if theorem else None,
        "largest loss": theorem.largest_loss if theorem else None,
        "largest score that vectors can have": report.largest_score,
    }
    table = ["| | |", "|---|---:|", *(f"| {name} | {_number(value)} |" for name, value in rows.items())]
    warnings = [f"- {sentence}." for sentence in report.unreachable]
    sentence = f"{theorem.sentence} {theorem.caveat}" if theorem else _NO_THEOREM
    parts = ["# Stability of the training", "\n".join(table), f"Theorem 3: {sentence}"]
    return "\n\n".join([*parts, *(["## Warnings", "\n".join(warnings)] if warnings else [])]) + "\n"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}"
