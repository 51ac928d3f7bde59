"""Trainer: trains a ranker, as TFX's Trainer does, with a lexicon and further channels."""

import os
from collections.abc import Mapping
from typing import Any, Final

from tfx import types
from tfx.components.trainer import executor
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import artifact_utils, channel, component_spec, standard_artifacts, standard_component_specs
from tfx.utils import json_utils

from components.artifact_files import read_text
from models.job import TrainingJob
from schemas.artifacts import Collection, Lexicon, TextVectors
from schemas.collection import MANIFEST_FILE, parse_manifest

_LEXICON, _TEXTS, _TEXT_VECTORS, _COLLECTION = "lexicon", "texts", "text_vectors", "collection"
_CUSTOM_CONFIG: Final = standard_component_specs.CUSTOM_CONFIG_KEY

CHANNEL_INPUTS: Final = {
    _LEXICON: component_spec.ChannelParameter(type=Lexicon, optional=True),
    _TEXTS: component_spec.ChannelParameter(type=standard_artifacts.Examples, optional=True),
    _TEXT_VECTORS: component_spec.ChannelParameter(type=TextVectors, optional=True),
}
"""Inputs of Trainer and Tuner besides TFX's: the lexicon of the channel of words that match, the Examples that the
transformed ones were made of, whose texts the channels score, and the vectors of these texts by a pre-trained
encoder."""


def with_channel_inputs(
    input_dict: Mapping[str, list[types.Artifact]], properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns execution properties whose training job names the lexicon's folder, the files of texts, and the number
    of documents of the collection.

    TFX hands a training function only its own inputs and `custom_config`, the job.
    """
    job = TrainingJob.model_validate(json_utils.loads(properties[_CUSTOM_CONFIG]))
    updates: dict[str, Any] = {}
    for name in (_LEXICON, _TEXT_VECTORS):
        if input_dict.get(name):
            updates[name] = artifact_utils.get_single_uri(input_dict[name])
    if input_dict.get(_TEXTS):
        updates["texts"] = {
            split: os.path.join(artifact_utils.get_split_uri(input_dict[_TEXTS], split), "*")
            for split in ("train", "eval")
        }
    if input_dict.get(_COLLECTION):
        roles = parse_manifest(read_text(artifact_utils.get_single_instance(input_dict[_COLLECTION]), MANIFEST_FILE))
        # Documents from a candidates file are not a random sample.
        updates["documents"] = None if "candidates" in roles else roles["documents"].report.used
    config = job.model_copy(update=updates).model_dump(mode="json")
    return {**properties, _CUSTOM_CONFIG: json_utils.dumps(config)}


class Executor(executor.GenericExecutor):
    """Trains with `components.trainer.run_fn`."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        super().Do(input_dict, output_dict, with_channel_inputs(input_dict, exec_properties))


class TrainerSpec(standard_component_specs.TrainerSpec):
    """TFX's parameters, inputs and outputs, the inputs of channels, and the collection that the lists come from."""

    INPUTS = {
        **standard_component_specs.TrainerSpec.INPUTS,
        **CHANNEL_INPUTS,
        _COLLECTION: component_spec.ChannelParameter(type=Collection, optional=True),
    }


class Trainer(base_component.BaseComponent):
    """Trains a ranker.

    Args:
      job: the training.
      **inputs_and_arguments: `examples`, `transform_graph`, `schema`, `hyperparameters`, `train_args` and `eval_args`
        as TFX's Trainer has them; `lexicon`, `texts` and `text_vectors`, see `CHANNEL_INPUTS`; `collection`, without
        which the model gets no shares of relevant documents.

    Outputs:
      model: Model.
      model_run: ModelRun.
    """

    SPEC_CLASS = TrainerSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, job: TrainingJob, **inputs_and_arguments: Any) -> None:
        super().__init__(
            TrainerSpec(
                **inputs_and_arguments,
                run_fn="components.trainer.run_fn.run_fn",
                custom_config=json_utils.dumps(job.model_dump(mode="json")),
                model=channel.OutputChannel(standard_artifacts.Model, self, "model"),
                model_run=channel.OutputChannel(standard_artifacts.ModelRun, self, "model_run"),
            )
        )
