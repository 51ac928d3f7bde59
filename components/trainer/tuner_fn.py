"""The tuner function of TFX's Tuner: a search whose trials are trainings as the Trainer's."""

import os
from collections.abc import Mapping
from typing import Final

from tfx.components.trainer.fn_args_utils import FnArgs
from tfx.components.tuner.component import TunerFnResult

from components.trainer.inputs import read_inputs
from components.trainer.train_ranker import train_ranker
from components.trainer.unfinished import unfinished_folder
from models.devices import make_strategy
from models.trial_search import TrialSearch
from models.tuning_settings import TuningSettings

TUNING_KEY: Final = "tuning"


def tuner_fn(fn_args: FnArgs) -> TunerFnResult:
    """Makes the search for the best epsilon and theta on transformed lists.

    Args:
      fn_args: TFX's; `custom_config` holds what `run_fn` takes, and the settings of the search.
    """
    inputs = read_inputs(fn_args)
    strategy = make_strategy(inputs.training)

    def train_trial(numbers: Mapping[str, float], folder: str) -> float:
        folders = [os.path.join(folder, name) for name in ("log", "checkpoint")]
        return train_ranker(inputs.with_numbers(numbers), strategy, *folders).history.best_value

    search = TrialSearch(
        TuningSettings(**fn_args.custom_config[TUNING_KEY]),
        inputs.training,
        inputs.training.epochs_of(len(inputs.train_lists)),
        train_trial,
        unfinished_folder(fn_args, inputs, strategy.num_replicas_in_sync),
        fn_args.working_dir,
    )
    return TunerFnResult(tuner=search, fit_kwargs={})
