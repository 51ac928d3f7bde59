"""The run function of TFX's Trainer: unpacks its arguments and calls plain training in `models`."""

from tfx.components.trainer.fn_args_utils import FnArgs

from components.trainer.run_training import run_training
from components.trainer.train_and_export import train_and_export
from components.trainer.training_arguments import TrainingArguments


def run_fn(fn_args: FnArgs) -> None:
    """Trains a ranker on transformed lists and exports it, in this process or in several workers.

    Args:
      fn_args: TFX's; see `train_and_export`.

    Raises:
      DataError: a split has no lists or no known word, or a worker died.
      ConfigError: TF_CONFIG or the devices do not fit the settings.
    """
    arguments = TrainingArguments.of(fn_args)
    run_training(train_and_export, arguments.as_dict(), arguments.training)
