"""Tuner: searches for the best epsilon and theta, as TFX's Tuner does, and also keeps the trials that failed."""

import os
import tempfile
from typing import Any

from tfx import types
from tfx.components.tuner import executor
from tfx.dsl.components.base import base_component, executor_spec
from tfx.dsl.io import fileio
from tfx.types import artifact_utils, channel, standard_artifacts, standard_component_specs
from tfx.utils import json_utils

from components.trainer.component import CHANNEL_INPUTS, with_channel_inputs
from models.job import TrainingJob
from models.training.hparams import write_hparams
from schemas import file_system
from schemas.training_history import TRIALS_FILE

_RESULTS = standard_component_specs.TUNER_RESULTS_KEY


class Executor(executor.Executor):
    """Searches, and writes the best numbers and all trials; TFX's own keeps only successes, and prints to stdout."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Searches with a `models.tuning.trial_search.TrialSearch`, and removes its folder at the end."""
        with tempfile.TemporaryDirectory() as working_dir:
            properties = with_channel_inputs(input_dict, exec_properties)
            search = executor.search(input_dict, properties, working_dir, print_tuning_summary=False)
            executor.write_best_hyperparameters(search, output_dict)
        folder, results = artifact_utils.get_single_uri(output_dict[_RESULTS]), search.results()
        with file_system.open_file(os.path.join(folder, TRIALS_FILE), "w") as file:
            file.write(results.to_json())
        for trial in results.trials:
            figures = {} if trial.value is None else {f"eval/{results.metric}": trial.value}
            write_hparams(os.path.join(folder, f"trial-{trial.number:03}"), trial.numbers, figures)
        fileio.rmtree(search.folder)


class TunerSpec(standard_component_specs.TunerSpec):
    """TFX's parameters, inputs and outputs, and the inputs of channels."""

    INPUTS = {**standard_component_specs.TunerSpec.INPUTS, **CHANNEL_INPUTS}


class Tuner(base_component.BaseComponent):
    """Searches for epsilon and theta by short trainings.

    Args:
      job: the training of a trial, and the search.
      **inputs_and_arguments: `examples`, `transform_graph`, `schema`, `train_args` and `eval_args` as TFX's Tuner has
        them; `lexicon`, `texts` and `text_vectors`, see `CHANNEL_INPUTS`.

    Outputs:
      best_hyperparameters: HyperParameters.
      tuner_results: TunerResults.
    """

    SPEC_CLASS = TunerSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, job: TrainingJob, **inputs_and_arguments: Any) -> None:
        best, results = "best_hyperparameters", "tuner_results"
        super().__init__(
            TunerSpec(
                **inputs_and_arguments,
                tuner_fn="components.trainer.tuner_fn.tuner_fn",
                custom_config=json_utils.dumps(job.model_dump(mode="json")),
                **{
                    best: channel.OutputChannel(standard_artifacts.HyperParameters, self, best),
                    results: channel.OutputChannel(standard_artifacts.TunerResults, self, results),
                },
            )
        )
