"""The executor of TrainedBaseline: artifacts in and out, the work is in `models.evaluation.score_lists`."""

import os
from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from models.evaluation.score_lists import score_lists
from models.lists.ranking_lists import read_lists
from models.rankers.ranker import SCORES
from models.retrieval.ranking import ranking_run
from schemas.evaluation_files import RUN_FILE

EXAMPLES_KEY: Final = "examples"
MODEL_KEY: Final = "model"
RUN_KEY: Final = "run"
TAG_KEY: Final = "tag"


class Executor(base_executor.BaseExecutor):
    """Ranks the test split by a model."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes a TREC run file over the test lists."""
        folder = artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "test")
        lists = read_lists(fileio.glob(os.path.join(folder, "*")))
        model = path_utils.serving_model_path(artifact_utils.get_single_uri(input_dict[MODEL_KEY]))
        scores = score_lists(model, lists)[SCORES]
        path = os.path.join(artifact_utils.get_single_uri(output_dict[RUN_KEY]), RUN_FILE)
        with fileio.open(path, "w") as run:
            run.write("".join(ranking_run(lists, scores, exec_properties[TAG_KEY])))
