"""The executor of Evaluator: artifacts in and out, the work is in `evaluate`."""

import json
import os
from collections.abc import Sequence
from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from components.evaluator.comparison import Comparison
from components.evaluator.evaluate import RUN_FILE, Evaluation, evaluate, score_lists, score_metrics
from components.evaluator.gate import judge
from components.evaluator.settings import EvaluationSettings
from models.randomisation_test import randomisation_test
from models.text_lists import TextList, read_text_lists
from models.versions import latest_version, same_files
from schemas.errors import DataError
from schemas.trec import parse_run

EXAMPLES_KEY: Final = "examples"
MODEL_KEY: Final = "model"
BASELINE_KEY: Final = "baseline"
EVALUATION_KEY: Final = "evaluation"
BLESSING_KEY: Final = "blessing"
TOP_GRADE_KEY: Final = "top_grade"
USED_NEGATIVES_KEY: Final = "used_negatives"
SETTINGS_KEY: Final = "settings"
SERVING_KEY: Final = "serving"
CODE_KEY: Final = "code"

VERDICT_KEY: Final = "verdict"
"""A property of the blessing: the verdict as JSON. It is no file: one that is lost could not be made again, for the
last pushed model may be another by then."""


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
            fileio.glob(os.path.join(artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "test"), "*")),
            exec_properties.get(USED_NEGATIVES_KEY),
        )
        model = path_utils.serving_model_path(artifact_utils.get_single_uri(input_dict[MODEL_KEY]))
        with fileio.open(os.path.join(artifact_utils.get_single_uri(input_dict[BASELINE_KEY]), RUN_FILE)) as lines:
            baselines = {"bm25": parse_run(lines)}
        top_grade = exec_properties[TOP_GRADE_KEY]
        result = evaluate(lists, score_lists(model, lists), baselines, top_grade)
        settings = EvaluationSettings(**json.loads(exec_properties[SETTINGS_KEY]))
        comparison = _compare(result, model, exec_properties[SERVING_KEY], lists, top_grade, settings)
        report = result.report
        verdict = judge(
            report["metrics"], report["floors"]["random"], report["reachable"], settings.minimums, comparison
        )
        compared = None if isinstance(comparison, str) else comparison._asdict()
        folder = artifact_utils.get_single_uri(output_dict[EVALUATION_KEY])
        for name, content in result.files().items():
            with fileio.open(os.path.join(folder, name), "w") as file:
                file.write(content)
        # TFX's convention, which the Pusher reads: a property of the artifact, and a file for people.
        blessing = artifact_utils.get_single_instance(output_dict[BLESSING_KEY])
        blessing.set_int_custom_property("blessed", int(verdict.blessed))
        text = json.dumps({**verdict._asdict(), "comparison": compared}, indent=2) + "\n"
        blessing.set_string_custom_property(VERDICT_KEY, text)
        marker = "BLESSED" if verdict.blessed else "NOT_BLESSED"
        with fileio.open(os.path.join(blessing.uri, marker), "w") as file:
            file.write(verdict.reason + "\n")


def _compare(
    result: Evaluation,
    model: str,
    serving: str,
    lists: Sequence[TextList],
    top_grade: int,
    settings: EvaluationSettings,
) -> Comparison | str:
    """The model beside the last pushed one, or why they are not compared.

    The folder is looked up here, when the stage runs, and so stays out of its cache key: what this run pushes does not
    make the next, identical run evaluate anew.
    """
    version = latest_version(serving)
    if version is None:
        return "no model was pushed before"
    last = os.path.join(serving, version)
    if settings.start_anew:
        return f"not compared with version {version}, as evaluation.start_anew asks"
    if same_files(model, last):
        return f"not compared with version {version}, which is this very model"
    metric = settings.compared_metric
    try:
        last_values = score_metrics(lists, score_lists(last, lists), top_grade)[metric]
    except DataError as error:
        raise DataError(f"the last pushed model: {error}\nRemove it, or set evaluation.start_anew.") from None
    values = result.per_query[metric]
    return Comparison(
        version=version,
        metric=metric,
        value=float(values.mean()),
        last_value=float(last_values.mean()),
        p_value=randomisation_test(values, last_values, two_sided=False),
        significance=settings.significance,
    )
