"""The executor of TrainingReport: artifacts in and out, the work is in `report_files`."""

import json
import os
from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.training_report.report_files import training_files, tuning_files, with_best_trial
from models.settings import LossSettings, ModelSettings
from models.training.settings import TrainingSettings
from models.tuning.results import SearchResults
from schemas.training_history import HISTORY_FILE, TRIALS_FILE, VECTORS_FILE

MODEL_RUN_KEY: Final = "model_run"
TUNER_RESULTS_KEY: Final = "tuner_results"
MODEL_KEY: Final = "model"
LOSS_KEY: Final = "loss"
TRAINING_KEY: Final = "training"
REPORT_KEY: Final = "report"


class Executor(base_executor.BaseExecutor):
    """Writes what people read of a training."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the report."""
        run = artifact_utils.get_single_uri(input_dict[MODEL_RUN_KEY])
        model = ModelSettings(**json.loads(exec_properties[MODEL_KEY]))
        loss = LossSettings(**json.loads(exec_properties[LOSS_KEY]))
        training = TrainingSettings(**json.loads(exec_properties[TRAINING_KEY]))
        files: dict[str, str] = {}
        if input_dict.get(TUNER_RESULTS_KEY):
            trials = _read(os.path.join(artifact_utils.get_single_uri(input_dict[TUNER_RESULTS_KEY]), TRIALS_FILE))
            results = SearchResults.from_json(trials)
            model, loss = with_best_trial(results, model, loss)
            files |= tuning_files(results)
        files |= training_files(_read(os.path.join(run, HISTORY_FILE)), model, loss, training)
        vectors = os.path.join(run, VECTORS_FILE)
        if fileio.exists(vectors):
            files[f"training/{VECTORS_FILE}"] = _read(vectors)
        folder = artifact_utils.get_single_uri(output_dict[REPORT_KEY])
        for name, content in files.items():
            path = os.path.join(folder, name)
            fileio.makedirs(os.path.dirname(path))
            with fileio.open(path, "w") as file:
                file.write(content)


def _read(path: str) -> str:
    with fileio.open(path) as file:
        content: str = file.read()
    return content
