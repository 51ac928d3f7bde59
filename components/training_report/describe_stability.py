"""The stability of a training as a page."""

from typing import Final

from schemas.stability import Stability

_NO_THEOREM: Final = (
    "not evaluated. Its constants are known for the paper's mean encoder, smooth cosine and a loss of single documents "
    "whose thresholds are not learned, without terms over a batch."
)


def describe_stability(report: Stability) -> str:
    """A Markdown page of what `stability_report` returns."""
    theorem = report.theorem_3
    rows = {
        "largest gradient of a score, seen on the eval split": report.largest_score_gradient,
        "what it cannot exceed (1/ε with smooth cosine)": report.gradient_bound,
        "what the paper proves (2/ε)": report.paper_gradient_bound,
        "what it would have been with plain cosine": report.largest_score_gradient_plain_cosine,
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
