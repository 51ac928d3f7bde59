"""The stability of a training, as `stability.json` holds it. Importing this file does not import TensorFlow."""

from pydantic import BaseModel, ConfigDict

from schemas.json_record import JsonRecord


class Theorem3(BaseModel):
    """Theorem 3 (arXiv:2011.00701) with the constants of a training, at its exported epoch."""

    model_config = ConfigDict(frozen=True)

    bound: float
    """Of expected minus mean training loss."""
    largest_loss: float
    """What no loss exceeds."""
    beta: float
    """The training's uniform stability, in the unit of the loss."""
    lipschitz: float
    """Lipschitz constant of the loss in the tables of word embeddings."""
    smoothness: float
    """Its smoothness there."""
    pairs: int
    """Query-document pairs of the train split."""
    steps: int
    """Up to the exported epoch."""
    step_constant: float
    """c, where step t is at most c / t long."""
    delta: float
    """The probability with which the bound does not hold."""
    sentence: str
    """What the bound is worth."""
    caveat: str
    """Why it is no promise."""


class Stability(JsonRecord):
    """What was seen in a training beside what the paper's theory says of it.

    None stands for what is infinite, or not known of this loss, similarity or scorer.
    """

    gradient_bound: float | None
    """What a score's gradient in either vector cannot exceed: 1 / epsilon."""
    paper_gradient_bound: float | None
    """The paper's bound of it: 2 / epsilon."""
    largest_score_gradient: float | None
    """Seen on the eval split, over all epochs."""
    largest_score_gradient_plain_cosine: float | None
    """Plain cosine's at the same vectors."""
    clipped_share: float
    """Of all steps."""
    loss_lipschitz: float | None
    """Proposition 1, at the exported epoch's thresholds."""
    loss_smoothness: float | None
    """Likewise."""
    theorem_3: Theorem3 | None
    """None where its constants are not known."""
    largest_score: float
    """That vectors can have."""
    unreachable: tuple[str, ...]
    """A sentence for each grade that no score can satisfy."""
