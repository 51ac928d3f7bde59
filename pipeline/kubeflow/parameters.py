"""The settings that a run may change without compiling again."""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from pipeline.config import RunConfig
from schemas.json_files import parse_json


class RuntimeParameter(NamedTuple):
    """A parameter of a run, and the setting that it replaces in the stages that use it."""

    setting: str
    """The dotted setting whose value is its default."""
    type: Literal["NUMBER_INTEGER", "NUMBER_DOUBLE", "BOOLEAN"]
    """Kubeflow's name of its type."""
    keys: Mapping[str, tuple[str, ...]]
    """Stage to the setting's keys: an execution property, which holds JSON, and the keys in it."""
    meaning: str
    """The description for people."""
    null: float | None = None
    """The number that stands for null."""

    def default(self, config: RunConfig) -> Any:
        """The value that the configuration gives."""
        value: Any = config
        for key in self.setting.split("."):
            value = getattr(value, key)
        return self.null if value is None else value

    def value(self, argument: Any) -> Any:
        """A parameter's value as the setting's value; JSON has no integers."""
        if self.null is not None and argument == self.null:
            return None
        return int(argument) if self.type == "NUMBER_INTEGER" and float(argument).is_integer() else argument


def _training_keys(key: str, *stages: str) -> dict[str, tuple[str, ...]]:
    return {
        **{stage: ("custom_config", "training", key) for stage in stages},
        "TrainingReport": ("training", key),
        "Pusher": ("settings", "training", key),
    }


def _evaluation_keys(key: str) -> dict[str, tuple[str, ...]]:
    return {"Gate": ("settings", key), "Pusher": ("settings", "evaluation", key)}


RUNTIME_PARAMETERS: Final = {
    "training_epochs": RuntimeParameter(
        "training.epochs",
        "NUMBER_INTEGER",
        _training_keys("epochs", "Trainer"),
        "Passes over the train split, except in a search's trials; 0: a number that fits the number of lists.",
        null=0,
    ),
    "training_learning_rate": RuntimeParameter(
        "training.learning_rate",
        "NUMBER_DOUBLE",
        _training_keys("learning_rate", "Tuner", "Trainer"),
        "Adam's step size in the first epoch.",
    ),
    "training_seed": RuntimeParameter(
        "training.seed",
        "NUMBER_INTEGER",
        _training_keys("seed", "Tuner", "Trainer", "PaperTrainer"),
        "Seeds the initial weights, dropout and the order of the lists.",
    ),
    "evaluation_significance": RuntimeParameter(
        "evaluation.significance",
        "NUMBER_DOUBLE",
        _evaluation_keys("significance"),
        "A model is significantly worse where the paired test's p-value lies below this.",
    ),
    "evaluation_start_anew": RuntimeParameter(
        "evaluation.start_anew",
        "BOOLEAN",
        _evaluation_keys("start_anew"),
        "Push without comparing with the last pushed model.",
    ),
}
"""Name to parameter. A parameter is an input only of the stages that use it, so that the others stay cached."""


def with_parameters(stage: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The execution properties of a stage, with the run's parameters in them.

    Example:
      >>> with_parameters("Gate", {"settings": '{"start_anew": false}', "evaluation_start_anew": True})
      {'settings': '{"start_anew": true}'}
    """
    plain = {name: value for name, value in properties.items() if name not in RUNTIME_PARAMETERS}
    for name in sorted(properties.keys() & RUNTIME_PARAMETERS.keys()):
        parameter = RUNTIME_PARAMETERS[name]
        json_property, *sections, key = parameter.keys[stage]
        content = parse_json(plain[json_property])
        target = content
        for section in sections:
            target = target[section]
        target[key] = parameter.value(properties[name])
        plain[json_property] = json.dumps(content)
    return plain
