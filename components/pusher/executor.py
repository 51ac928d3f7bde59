"""TFX's Pusher, made atomic: TFX copies into the live version folder, where a server may see half a model."""

import json
import os
from collections.abc import Callable
from typing import Any, Final

from google.protobuf import json_format
from tfx import types
from tfx.components.pusher import executor
from tfx.dsl.io import fileio
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils, standard_component_specs

from components.pusher.model_card import model_card
from components.pusher.push_version import add_file, push_version
from components.pusher.warm_up import warm_up
from schemas.evaluation import METRICS_FILE, VERDICT_FILE, EvaluationReport, Verdict
from schemas.served_versions import (
    CARD_FILE,
    DESTINATION_PROPERTY,
    NEWEST_PROPERTY,
    PUSHED_PROPERTY,
    VERSION_PROPERTY,
    WARM_UP_FILE,
    WAS_PUSHED_PROPERTY,
)
from schemas.training_history import HISTORY_FILE, TrainingHistory

EXAMPLES_KEY: Final = "examples"
DATA_REPORT_KEY: Final = "data_report"
MODEL_RUN_KEY: Final = "model_run"
EVALUATION_KEY: Final = "evaluation"
SETTINGS_KEY: Final = "settings"

_DATA_REPORT_FILE: Final = "report.json"


class Executor(executor.Executor):
    """Pushes a blessed model, unless it is the newest version already (see `components.gate`)."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Pushes the model; unlike TFX's, the artifact holds no copy of it, but tells where it is."""
        pushed = artifact_utils.get_single_instance(output_dict[standard_component_specs.PUSHED_MODEL_KEY])
        if not self.CheckBlessing(input_dict):
            pushed.set_int_custom_property(WAS_PUSHED_PROPERTY, 0)
            return
        destination = json_format.Parse(
            exec_properties[standard_component_specs.PUSH_DESTINATION_KEY], pusher_pb2.PushDestination()
        )
        serving = destination.filesystem.base_directory
        blessing = artifact_utils.get_single_instance(input_dict[standard_component_specs.MODEL_BLESSING_KEY])
        version = blessing.get_string_custom_property(NEWEST_PROPERTY)
        model = self.GetModelPath(input_dict)
        makers: dict[str, Callable[[], bytes]] = {
            CARD_FILE: lambda: _card(input_dict, exec_properties),
            WARM_UP_FILE: lambda: _warm_up(model, input_dict),
        }
        is_pushed = bool(blessing.get_int_custom_property(PUSHED_PROPERTY))
        if is_pushed:  # by an earlier version of ours, perhaps, which knew less to put beside a model
            folder = os.path.join(serving, version)
            makers = {name: make for name, make in makers.items() if not fileio.exists(os.path.join(folder, name))}
        beside = {name: content for name, make in makers.items() if (content := make())}
        if not is_pushed:
            version = push_version(model, serving, version or None, beside)
        else:
            for name, content in beside.items():
                add_file(serving, version, name, content)
        pushed.set_int_custom_property(WAS_PUSHED_PROPERTY, 1)
        pushed.set_string_custom_property(DESTINATION_PROPERTY, os.path.join(serving, version))
        pushed.set_string_custom_property(VERSION_PROPERTY, version)


def _card(input_dict: dict[str, list[types.Artifact]], exec_properties: dict[str, Any]) -> bytes:
    """The model's card, from what the stages before left."""

    def read(key: str, name: str) -> str:
        with fileio.open(os.path.join(artifact_utils.get_single_uri(input_dict[key]), name)) as file:
            content: str = file.read()
        return content

    card = model_card(
        json.loads(exec_properties[SETTINGS_KEY]),
        json.loads(read(DATA_REPORT_KEY, _DATA_REPORT_FILE)),
        TrainingHistory.from_json(read(MODEL_RUN_KEY, HISTORY_FILE)),
        EvaluationReport.from_json(read(EVALUATION_KEY, METRICS_FILE)),
        Verdict.from_json(read(standard_component_specs.MODEL_BLESSING_KEY, VERDICT_FILE)).reason,
    )
    return card.encode()


def _warm_up(model: str, input_dict: dict[str, list[types.Artifact]]) -> bytes:
    """The model's warm-up requests, of the eval split's lists; nothing where it has none."""
    split = artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "eval")
    return warm_up(model, fileio.glob(os.path.join(split, "*")))
