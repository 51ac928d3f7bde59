"""The run function of TFX's Trainer: unpacks its arguments and starts the training."""

from tfx.components.trainer.fn_args_utils import FnArgs

from models.training.cluster import run_training
from models.training.inputs import TrainingArguments
from models.training.train_ranker import train_and_export


def run_fn(fn_args: FnArgs) -> None:
    """Trains a ranker on transformed lists and exports it, in this process or in several workers.

    Args:
      fn_args: TFX's; `custom_config` holds the training job.

    Raises:
      DataError: a split has no lists or no known word, or a worker died.
      ConfigError: TF_CONFIG or the devices do not fit the settings.
    """
    arguments = TrainingArguments.from_fn_args(fn_args)
    run_training(train_and_export, arguments.as_dict(), arguments.training_job.training)
