"""The executor of Gate: artifacts in and out, the judgment is in `judge`."""

import json
import os
from typing import Any, Final

import numpy as np
from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from components.gate.judge import judge, same_files
from components.gate.settings import EvaluationSettings
from models.choices import SCORES
from models.evaluation.score_lists import score_lists, score_metrics
from models.evaluation.significance import randomisation_test
from models.exported.versions import whole_versions
from models.lists.ranking_lists import read_lists
from schemas.errors import DataError
from schemas.evaluation import (
    METRICS_FILE,
    PER_QUERY_FILE,
    RANDOM_ORDER,
    VERDICT_FILE,
    Comparison,
    EvaluationReport,
    QueryMetrics,
)
from schemas.served_versions import NEWEST_PROPERTY, PUSHED_PROPERTY, newest_version

EXAMPLES_KEY: Final = "examples"
MODEL_KEY: Final = "model"
EVALUATION_KEY: Final = "evaluation"
BLESSING_KEY: Final = "blessing"
TOP_GRADE_KEY: Final = "top_grade"
USED_NEGATIVES_KEY: Final = "used_negatives"
SETTINGS_KEY: Final = "settings"
SERVING_KEY: Final = "serving"


class Executor(base_executor.BaseExecutor):
    """Blesses a model, or not."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the blessing.

        Raises:
          DataError: the last pushed model cannot be used.
        """
        model = path_utils.serving_model_path(artifact_utils.get_single_uri(input_dict[MODEL_KEY]))
        evaluation = artifact_utils.get_single_uri(input_dict[EVALUATION_KEY])
        serving = exec_properties[SERVING_KEY]
        settings = EvaluationSettings(**json.loads(exec_properties[SETTINGS_KEY]))
        newest = newest_version(whole_versions(serving))
        is_pushed = newest is not None and same_files(model, os.path.join(serving, newest))
        comparison: Comparison | str
        if newest is None:
            comparison = "no model was pushed before"
        elif is_pushed:
            comparison = f"not compared with version {newest}, which is this very model"
        elif settings.start_anew:
            comparison = f"not compared with version {newest}, as evaluation.start_anew asks"
        else:
            comparison = _compare(input_dict, exec_properties, evaluation, newest, settings)
        with fileio.open(os.path.join(evaluation, METRICS_FILE)) as file:
            report = EvaluationReport.from_json(file.read())
        verdict = judge(report.metrics, report.baselines[RANDOM_ORDER], report.reachable, settings.minimums, comparison)
        # TFX's convention, which the Pusher reads: a property of the artifact, and a file for people.
        blessing = artifact_utils.get_single_instance(output_dict[BLESSING_KEY])
        blessing.set_int_custom_property("blessed", int(verdict.blessed))
        blessing.set_string_custom_property(NEWEST_PROPERTY, newest or "")
        blessing.set_int_custom_property(PUSHED_PROPERTY, int(is_pushed))
        with fileio.open(os.path.join(blessing.uri, VERDICT_FILE), "w") as file:
            file.write(verdict.to_json())
        marker = "BLESSED" if verdict.blessed else "NOT_BLESSED"
        with fileio.open(os.path.join(blessing.uri, marker), "w") as file:
            file.write(verdict.reason + "\n")


def _compare(
    input_dict: dict[str, list[types.Artifact]],
    exec_properties: dict[str, Any],
    evaluation: str,
    newest: str,
    settings: EvaluationSettings,
) -> Comparison:
    """The model beside the last pushed one, on the same lists."""
    top_grade, metric = exec_properties[TOP_GRADE_KEY], settings.compared_metric
    lists = read_lists(
        fileio.glob(os.path.join(artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "test"), "*")),
        used_negatives=exec_properties.get(USED_NEGATIVES_KEY),
    )
    last = os.path.join(exec_properties[SERVING_KEY], newest)
    try:
        last_values = score_metrics(lists, score_lists(last, lists, settings.feedback)[SCORES], top_grade)[metric]
    except DataError as error:
        raise DataError(f"the last pushed model: {error}\nRemove it, or set evaluation.start_anew.") from None
    with fileio.open(os.path.join(evaluation, PER_QUERY_FILE)) as file:
        per_query = QueryMetrics.from_tsv(file.read())
    if per_query.query_ids != [query_id.decode() for query_id in lists.query_ids]:
        raise ValueError(f"{PER_QUERY_FILE} of the evaluation must be of the lists that the gate reads")
    values = np.asarray(per_query.values[metric])
    return Comparison(
        version=newest,
        metric=metric,
        value=float(values.mean()),
        last_value=float(last_values.mean()),
        p_value=randomisation_test(values, last_values, two_sided=False),
        significance=settings.significance,
    )
