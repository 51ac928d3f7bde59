"""The tuner function of TFX's Tuner: a search whose trials are trainings as the Trainer's."""

from collections.abc import Callable
from typing import Final

import tensorflow as tf
from tfx.components.trainer.fn_args_utils import FnArgs
from tfx.components.tuner.component import TunerFnResult

from components.trainer.inputs import read_inputs
from components.trainer.joined_cluster import joined_cluster
from components.trainer.run_training import run_training
from components.trainer.train_trial import read_and_train_trial, train_trial
from components.trainer.training_arguments import TrainingArguments
from components.trainer.training_inputs import TrainingInputs
from components.trainer.unfinished import unfinished_folder
from models.training.devices import make_strategy
from models.tuning.settings import TuningSettings
from models.tuning.trial_search import Numbers, TrialSearch
from schemas.errors import ConfigError

TUNING_KEY: Final = "tuning"


def tuner_fn(fn_args: FnArgs) -> TunerFnResult:
    """Makes the search for the best epsilon and theta on transformed lists.

    With `training.workers` each trial is trained by workers of its own.

    Args:
      fn_args: TFX's; `custom_config` holds what `train_and_export` takes, and the settings of the search.

    Raises:
      ConfigError: TF_CONFIG names a cluster.
    """
    arguments = TrainingArguments.of(fn_args)
    if cluster := joined_cluster(arguments.training):
        raise ConfigError(
            [
                f"a search must run on one machine, where training.workers may be several; got a TF_CONFIG of "
                f"{cluster.workers} workers. Search there, and give the cluster what was found."
            ]
        )
    inputs = read_inputs(arguments)
    several = (inputs.training.workers or 1) > 1
    train, devices = (_in_workers if several else _here)(arguments, inputs)
    search = TrialSearch(
        TuningSettings(**fn_args.custom_config[TUNING_KEY]),
        inputs.training,
        inputs.training.epochs_of(len(inputs.train_lists)),
        train,
        unfinished_folder(arguments, inputs, devices),
        fn_args.working_dir,
    )
    return TunerFnResult(tuner=search, fit_kwargs={})


def _here(arguments: TrainingArguments, inputs: TrainingInputs) -> tuple[Callable[[Numbers, str], float], str]:
    """What trains for a trial in this process, which has read the data, and on what."""
    strategy = make_strategy(inputs.training)

    def train(numbers: Numbers, folder: str) -> float:
        return train_trial(inputs.with_numbers(numbers), folder, strategy)

    return train, f"{strategy.num_replicas_in_sync} replicas"


def _in_workers(arguments: TrainingArguments, inputs: TrainingInputs) -> tuple[Callable[[Numbers, str], float], str]:
    """What trains for a trial in workers, and on what."""

    def train(numbers: Numbers, folder: str) -> float:
        trial = {"arguments": arguments.as_dict(), "numbers": dict(numbers), "folder": folder}
        return float(run_training(read_and_train_trial, trial, arguments.training))

    return train, f"{arguments.training.workers} workers on {len(tf.config.list_physical_devices('GPU'))} GPUs"
