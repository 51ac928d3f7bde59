"""Histories of trainings and results of searches that took place nowhere."""

from typing import Any

from models.tuning.results import SearchResults, Trial
from models.tuning.settings import Space
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


def search(*trials: tuple[dict[str, Any], float | None], reason: str = "it failed", **spaces: Any) -> SearchResults:
    """The results of a search: (settings, value) of each trial; None is the value of those that failed."""
    made = (
        Trial(number=number, settings=settings, value=value, reason=None if value else reason)
        for number, (settings, value) in enumerate(trials, 1)
    )
    spaces = {"epsilon": Space(min=1, max=2, step=1), "theta": None, **spaces}
    return SearchResults(metric="ndcg_5", search="grid", trials=tuple(made), epochs=1, **spaces)
