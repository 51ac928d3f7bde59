"""The executor of Evaluator: artifacts in and out, the work is in `evaluate`."""

import os
from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from components.evaluator.evaluate import evaluate, read_baselines
from models.choices import SCORES
from models.evaluation.score_lists import score_lists
from models.lists.ranking_lists import IDS_SPEC, read_lists
from schemas.evaluation import RUN_FILE

EXAMPLES_KEY: Final = "examples"
MODEL_KEY: Final = "model"
BASELINE_KEYS: Final = {"bm25": "bm25_run", "paper": "paper_run"}
"""The input of each baseline; one for all would be a union of channels, which Kubeflow Pipelines does not know."""
EVALUATION_KEY: Final = "evaluation"
TOP_GRADE_KEY: Final = "top_grade"
USED_NEGATIVES_KEY: Final = "used_negatives"
FEEDBACK_KEY: Final = "feedback"


class Executor(base_executor.BaseExecutor):
    """Evaluates a model on the test split."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the evaluation.

        Raises:
          DataError: see `read_baselines` and `evaluate`.
        """
        train_files, test_files = (
            fileio.glob(os.path.join(artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], split), "*"))
            for split in ("train", "test")
        )
        lists = read_lists(test_files, used_negatives=exec_properties.get(USED_NEGATIVES_KEY))
        seen_documents = read_lists(train_files, IDS_SPEC, used_negatives=0).relevant_documents()
        model = path_utils.serving_model_path(artifact_utils.get_single_uri(input_dict[MODEL_KEY]))
        runs = [run for key in BASELINE_KEYS.values() for run in input_dict.get(key, [])]
        baselines = read_baselines(os.path.join(run.uri, RUN_FILE) for run in runs)
        feedback = exec_properties.get(FEEDBACK_KEY, 0.0)
        scores = score_lists(model, lists, feedback)
        result = evaluate(
            lists,
            scores.pop(SCORES),
            baselines,
            exec_properties[TOP_GRADE_KEY],
            seen_documents=seen_documents,
            channels=scores,
            feedback=feedback,
        )
        folder = artifact_utils.get_single_uri(output_dict[EVALUATION_KEY])
        for name, content in result.files().items():
            with fileio.open(os.path.join(folder, name), "w") as file:
                file.write(content)
