"""The executor of Evaluator: artifacts in and out, the work is in `evaluate`."""

import json
import os
from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from components.evaluator.evaluate import evaluate, score_lists
from models.text_lists import read_text_lists
from schemas.trec import parse_run

EXAMPLES_KEY: Final = "examples"
MODEL_KEY: Final = "model"
BASELINE_KEY: Final = "baseline"
EVALUATION_KEY: Final = "evaluation"
BLESSING_KEY: Final = "blessing"
TOP_GRADE_KEY: Final = "top_grade"
MINIMUMS_KEY: Final = "minimums"
CODE_KEY: Final = "code"

METRICS_FILE: Final = "metrics.json"
RUN_FILE: Final = "run.trec"
QRELS_FILE: Final = "qrels.trec"


class Executor(base_executor.BaseExecutor):
    """Evaluates a model on the test split and blesses it, or not."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the evaluation and the blessing.

        Raises:
          DataError: see `evaluate`.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        lists = read_text_lists(
            fileio.glob(os.path.join(artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "test"), "*"))
        )
        model = path_utils.serving_model_path(artifact_utils.get_single_uri(input_dict[MODEL_KEY]))
        with fileio.open(os.path.join(artifact_utils.get_single_uri(input_dict[BASELINE_KEY]), RUN_FILE)) as lines:
            baselines = {"bm25": parse_run(lines)}
        result = evaluate(
            lists,
            score_lists(model, lists),
            baselines,
            exec_properties[TOP_GRADE_KEY],
            json.loads(exec_properties[MINIMUMS_KEY]),
        )
        contents = {
            METRICS_FILE: [json.dumps(result.report, indent=2) + "\n"],
            RUN_FILE: result.run,
            QRELS_FILE: result.qrels,
        }
        for name, lines in contents.items():
            with fileio.open(
                os.path.join(artifact_utils.get_single_uri(output_dict[EVALUATION_KEY]), name), "w"
            ) as file:
                file.write("".join(lines))
        # TFX's convention, which the Pusher reads: a property of the artifact, and a file for people.
        blessing = artifact_utils.get_single_instance(output_dict[BLESSING_KEY])
        blessing.set_int_custom_property("blessed", int(result.verdict.blessed))
        marker = "BLESSED" if result.verdict.blessed else "NOT_BLESSED"
        with fileio.open(os.path.join(blessing.uri, marker), "w") as file:
            file.write(result.verdict.reason + "\n")
