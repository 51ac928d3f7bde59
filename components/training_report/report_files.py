"""The files of a training's report, as texts by their paths."""

from components.training_report.stability_report import describe_stability, stability_report
from models.settings import LossSettings, ModelSettings
from models.training.settings import TrainingSettings
from models.tuning.results import SearchResults
from schemas.stability import STABILITY_FILE
from schemas.training_history import HISTORY_FILE, TrainingHistory


def training_files(
    history: str, model: ModelSettings, loss: LossSettings, top_grade: int, training: TrainingSettings
) -> dict[str, str]:
    """The files of a training's history and stability.

    Args:
      history: the content of `training.json`.
      model, loss, training: the training's settings.
      top_grade: the MR grade.
    """
    step = training.number("learning_rate") * training.number("embedding_factor")
    report = stability_report(model, loss, top_grade, step, TrainingHistory.from_json(history))
    return {
        f"training/{HISTORY_FILE}": history,
        f"training/{STABILITY_FILE}": report.to_json(),
        "training/stability.md": describe_stability(report),
    }


def with_best_trial(
    results: SearchResults, model: ModelSettings, loss: LossSettings
) -> tuple[ModelSettings, LossSettings]:
    """The settings with the values of a search's best trial."""
    settings = results.best.settings
    theta = settings.get("loss.theta")
    return (
        model.model_copy(update={"epsilon": settings.get("model.epsilon", model.epsilon)}),
        loss.model_copy(update={"theta": tuple(theta) if isinstance(theta, list) else loss.theta}),
    )
