"""The files of a training's report, as texts by their paths."""

from components.training_report.stability_report import describe_stability, stability_report
from models.losses.settings import LossSettings
from models.rankers.settings import ScorerSettings
from models.training.settings import TrainingSettings
from models.tuning.results import SearchResults
from models.tuning.settings import EPSILON, THETA
from schemas.stability import STABILITY_FILE
from schemas.training_history import HISTORY_FILE, TrainingHistory


def training_files(
    history: str, towers: ScorerSettings, loss: LossSettings, top_grade: int, training: TrainingSettings
) -> dict[str, str]:
    """The files of a training's history and stability.

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


def with_best_trial(
    results: SearchResults, towers: ScorerSettings, loss: LossSettings
) -> tuple[ScorerSettings, LossSettings]:
    """The settings with the values of a search's best trial."""
    settings = results.best.settings
    if EPSILON in settings:
        towers = towers.model_copy(update={"epsilon": settings[EPSILON]})
    theta = settings.get(THETA)
    if isinstance(theta, list):
        loss = loss.model_copy(update={"theta": tuple(theta)})
    return towers, loss
