"""The stability of a training: the content of `stability.json`. Importing this file does not import TensorFlow."""

from typing import Final

from schemas.json_record import JsonRecord

STABILITY_FILE: Final = "stability.json"


class Theorem3(JsonRecord):
    """Theorem 3 (arXiv:2011.00701) with the constants of a training, at its exported epoch."""

    bound: float
    """Upper bound of expected minus mean training loss."""
    largest_loss: float
    """Upper bound of a loss."""
    beta: float
    """The training's uniform stability, in the unit of the loss."""
    lipschitz: float
    """Lipschitz constant of the loss in the tables of word embeddings."""
    smoothness: float
    """Smoothness of the loss in these tables."""
    pairs: int
    """Query-document pairs of the train split."""
    steps: int
    """Number of steps up to the exported epoch."""
    step_constant: float
    """c, where the length of step t is at most c / t."""
    delta: float
    """Probability that the bound does not hold."""
    sentence: str
    """The value of the bound in words."""
    caveat: str
    """The limits of the bound in words."""


class Stability(JsonRecord):
    """Observations of a training, and the bounds of the paper's theory.

    None stands for a value that is infinite, or unknown for this loss, similarity or scorer.
    """

    gradient_bound: float | None
    """Upper bound of a score's gradient in either vector: 1 / epsilon."""
    paper_gradient_bound: float | None
    """The paper's upper bound of this gradient: 2 / epsilon."""
    largest_score_gradient: float | None
    """The largest gradient on the eval split, over all epochs."""
    largest_score_gradient_plain_cosine: float | None
    """The largest gradient of plain cosine at the same vectors."""
    clipped_share: float
    """Share of all steps whose gradient was clipped."""
    loss_lipschitz: float | None
    """Lipschitz constant of Proposition 1, at the exported epoch's thresholds."""
    loss_smoothness: float | None
    """Smoothness of Proposition 1, at the exported epoch's thresholds."""
    theorem_3: Theorem3 | None
    largest_score: float | None
    """Upper bound of a score."""
    unreachable: tuple[str, ...]
    """A sentence for each grade that no score can satisfy."""
