"""The stage TrainingReport: reports a training to people."""

import os

from tfx.dsl.io import fileio
from tfx.types.standard_artifacts import ModelRun, TunerResults

from components.artifact_files import read_text, write_text
from components.stage import Input, Output, stage
from components.training_report.stability_report import training_files
from models.losses.settings import LossSettings
from models.rankers.settings import ScorerSettings
from models.training.settings import TrainingSettings
from models.tuning.results import SearchResults
from schemas import artifacts
from schemas.training_history import HISTORY_FILE, TRIALS_FILE, VECTORS_FILE


@stage
def TrainingReport(
    model_run: Input[ModelRun],
    report: Output[artifacts.TrainingReport],
    towers: ScorerSettings,
    loss: LossSettings,
    top_grade: int,
    training: TrainingSettings,
    tuner_results: Input[TunerResults] | None = None,
) -> None:
    """Reports a training: its history, its stability, and the search before it.

    A separate stage, so that a change of the report's words does not repeat the training.

    Args:
      model_run: the Trainer's.
      report: the folder `training`, and after a search the folder `tuning`.
      towers, loss, training: the settings of the training.
      top_grade: the MR grade.
      tuner_results: the Tuner's, if there was a search; the best trial's values replace those of the settings.
    """
    files: dict[str, str] = {}
    if tuner_results:
        # Matplotlib takes a second to import.
        from components.training_report.tuning_report import tuning_report, with_best_trial

        results = SearchResults.from_json(read_text(tuner_results, TRIALS_FILE))
        towers, loss = with_best_trial(results, towers, loss)
        files |= tuning_report(results)
    files |= training_files(read_text(model_run, HISTORY_FILE), towers, loss, top_grade, training)
    if fileio.exists(os.path.join(model_run.uri, VECTORS_FILE)):
        files[f"training/{VECTORS_FILE}"] = read_text(model_run, VECTORS_FILE)
    for name, content in files.items():
        write_text(report, name, content)
