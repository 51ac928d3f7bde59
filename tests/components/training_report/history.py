"""Histories of trainings that took place nowhere."""

from typing import Any

from schemas.training_history import TrainingHistory

ROW = {
    "train/clipped_share": 0.5,
    "score_gradient/max": 0.2,
    "score_gradient/plain_cosine_max": 9.0,
    "score_gradient/bound": 1.0,
}


def history(*rows: dict[str, float], **values: Any) -> TrainingHistory:
    """A history of epochs with these figures."""
    epochs = [{"epoch": number, "scores": {"limit": 1, "counts": {}}, **row} for number, row in enumerate(rows, 1)]
    reached = {"train_pairs": 30_000, "best_epoch": 1, "best_value": 0.5, "pairs_per_second": 1e5, "steps": 200}
    return TrainingHistory.model_validate({**reached, "theta": None, "history": epochs, **values})
