"""The Trainer component's contract: TFX's own, with a lexicon."""

from typing import Any

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, standard_artifacts, standard_component_specs
from tfx.utils import json_utils

from components.trainer.executor import Executor
from schemas.lexicon_inputs import LEXICON_INPUTS


class TrainerSpec(standard_component_specs.TrainerSpec):
    """TFX's parameters, inputs and outputs, and the inputs of a lexicon."""

    INPUTS = {**standard_component_specs.TrainerSpec.INPUTS, **LEXICON_INPUTS}


class Trainer(base_component.BaseComponent):
    """Trains a ranker, as TFX's Trainer does, which takes no inputs but its own.

    Args:
      run_fn: dotted name of the run function.
      custom_config: what it takes besides artifacts.
      **inputs_and_arguments: `examples`, `transform_graph`, `schema`, `hyperparameters`, `train_args` and `eval_args`
        as TFX's Trainer has them; `lexicon` and `texts`, see `schemas.lexicon_inputs`.

    Outputs:
      model: Model.
      model_run: ModelRun.
    """

    SPEC_CLASS = TrainerSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, run_fn: str, custom_config: dict[str, Any], **inputs_and_arguments: Any) -> None:
        super().__init__(
            TrainerSpec(
                **inputs_and_arguments,
                run_fn=run_fn,
                custom_config=json_utils.dumps(custom_config),
                model=channel.OutputChannel(standard_artifacts.Model, self, "model"),
                model_run=channel.OutputChannel(standard_artifacts.ModelRun, self, "model_run"),
            )
        )
