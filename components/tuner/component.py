"""The Tuner component's contract: TFX's own, with a lexicon and with our executor."""

from typing import Any

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, standard_artifacts, standard_component_specs
from tfx.utils import json_utils

from components.tuner.executor import Executor
from schemas.lexicon_inputs import LEXICON_INPUTS


class TunerSpec(standard_component_specs.TunerSpec):
    """TFX's parameters, inputs and outputs, and the inputs of a lexicon."""

    INPUTS = {**standard_component_specs.TunerSpec.INPUTS, **LEXICON_INPUTS}


class Tuner(base_component.BaseComponent):
    """Searches as TFX's Tuner does, except that its results hold the trials that failed, too.

    Args:
      tuner_fn: dotted name of the tuner function.
      custom_config: what it takes besides artifacts.
      **inputs_and_arguments: `examples`, `transform_graph`, `schema`, `train_args` and `eval_args` as TFX's Tuner has
        them; `lexicon` and `texts`, see `schemas.lexicon_inputs`.

    Outputs:
      best_hyperparameters: HyperParameters.
      tuner_results: TunerResults.
    """

    SPEC_CLASS = TunerSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, tuner_fn: str, custom_config: dict[str, Any], **inputs_and_arguments: Any) -> None:
        best, results = "best_hyperparameters", "tuner_results"
        super().__init__(
            TunerSpec(
                **inputs_and_arguments,
                tuner_fn=tuner_fn,
                custom_config=json_utils.dumps(custom_config),
                **{
                    best: channel.OutputChannel(standard_artifacts.HyperParameters, self, best),
                    results: channel.OutputChannel(standard_artifacts.TunerResults, self, results),
                },
            )
        )
