"""The tuner function of TFX's Tuner: a search whose trials train as the Trainer does."""

from collections.abc import Callable

import tensorflow as tf
from tfx.components.trainer.fn_args_utils import FnArgs
from tfx.components.tuner.component import TunerFnResult

from models.training.cluster import joined_cluster, run_training
from models.training.devices import make_strategy
from models.training.inputs import TrainingArguments, TrainingInputs, read_inputs, unfinished_folder
from models.training.train_ranker import read_and_train_trial, train_trial
from models.tuning.trial_search import Numbers, TrialSearch
from schemas.errors import ConfigError

_Train = Callable[[Numbers, str], float]


def tuner_fn(fn_args: FnArgs) -> TunerFnResult:
    """Makes the search for the best epsilon and theta on transformed lists.

    With `training.workers` each trial is trained by workers of its own.

    Args:
      fn_args: TFX's; `custom_config` holds the training job.

    Raises:
      ConfigError: TF_CONFIG names a cluster.
    """
    arguments = TrainingArguments.from_fn_args(fn_args)
    job = arguments.training_job
    if cluster := joined_cluster(job.training):
        raise ConfigError(
            [
                f"a search must run on one machine, with any number of training.workers; got a TF_CONFIG of "
                f"{cluster.workers} workers. Search on one machine, and give the cluster the values that it finds."
            ]
        )
    inputs = read_inputs(arguments)
    several = (job.training.workers or 1) > 1
    train, devices = _train_in_workers(arguments, inputs) if several else _train_here(inputs)
    search = TrialSearch(
        job.tuning,
        job.training,
        job.training.epochs_of(len(inputs.train_lists)),
        train,
        unfinished_folder(arguments, inputs, devices),
        fn_args.working_dir,
    )
    return TunerFnResult(tuner=search, fit_kwargs={})


def _train_here(inputs: TrainingInputs) -> tuple[_Train, str]:
    """Returns the training of a trial in this process, which has read the data, and its devices."""
    strategy = make_strategy(inputs.job.training)

    def train(numbers: Numbers, folder: str) -> float:
        return train_trial(inputs.with_numbers(numbers), folder, strategy)

    return train, f"{strategy.num_replicas_in_sync} replicas"


def _train_in_workers(arguments: TrainingArguments, inputs: TrainingInputs) -> tuple[_Train, str]:
    """Returns the training of a trial in workers, and their devices."""
    training = inputs.job.training

    def train(numbers: Numbers, folder: str) -> float:
        trial = {"arguments": arguments.as_dict(), "numbers": dict(numbers), "folder": folder}
        return float(run_training(read_and_train_trial, trial, training))

    return train, f"{training.workers} workers on {len(tf.config.list_physical_devices('GPU'))} GPUs"
