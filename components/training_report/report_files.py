"""The files of a training's report, as texts by their paths."""

from collections.abc import Mapping
from typing import Any

from components.training_report.describe_stability import describe_stability
from components.training_report.stability_report import stability_report
from models.settings import LossSettings, ModelSettings, TrainingSettings
from schemas.training_files import HISTORY_FILE, STABILITY_FILE
from schemas.training_history import TrainingHistory


def training_files(
    history: str, model: ModelSettings, loss: LossSettings, training: TrainingSettings
) -> dict[str, str]:
    """A training's history, and what the theory makes of it.

    Args:
      history: the content of training.json.
      model, loss, training: the settings that were trained with.
    """
    step = training.learning_rate_in(epoch=1) * training.number("embedding_factor")
    report = stability_report(model, loss, step, TrainingHistory.from_json(history))
    return {
        f"training/{HISTORY_FILE}": history,
        f"training/{STABILITY_FILE}": report.to_json(),
        "training/stability.md": describe_stability(report),
    }


def tuning_files(results: Mapping[str, Any]) -> dict[str, str]:
    """What a search came to.

    Args:
      results: of `models.trial_search.TrialSearch`.
    """
    # Matplotlib takes a second to import.
    from components.training_report.tuning_report import tuning_report

    return {f"tuning/{name}": content for name, content in tuning_report(results).items()}


def with_best_trial(
    results: Mapping[str, Any], model: ModelSettings, loss: LossSettings
) -> tuple[ModelSettings, LossSettings]:
    """The settings with the values of a search's best trial."""
    from components.training_report.tuning_report import best_settings

    found = best_settings(results)
    epsilon, theta = found.get("model.epsilon", model.epsilon), found.get("loss.theta", loss.theta)
    return model.model_copy(update={"epsilon": epsilon}), loss.model_copy(update={"theta": theta and tuple(theta)})
