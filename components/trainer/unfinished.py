"""Where a training that is killed is kept."""

import hashlib
import json
import logging

from components.trainer.inputs import CHECKPOINTS_KEY, best_numbers
from components.trainer.training_arguments import TrainingArguments
from components.trainer.training_inputs import TrainingInputs
from models.training.checkpoint import unfinished_work

log = logging.getLogger("clir.training")


def unfinished_folder(fn_args: TrainingArguments, inputs: TrainingInputs, devices: str, removes: bool = True) -> str:
    """The folder of a training or a search; those of others, whatever they were, are of no more use.

    Args:
      fn_args: `custom_config` names the folder of all.
      inputs: what was read from them.
      devices: over how many replicas and workers the training sums.
      removes: whether those of others are removed; of several workers the chief alone does.

    Returns:
      a folder named by a digest of all that decides a training: settings, code, data, devices.
    """
    settings = json.dumps([fn_args.custom_config, best_numbers(fn_args)], sort_keys=True)
    parts = [settings, inputs.train_lists.digest(), inputs.eval_lists.digest(), devices]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    folder, removed = unfinished_work(fn_args.custom_config[CHECKPOINTS_KEY], key, removes)
    if removed:
        log.info("an unfinished training of other data, code or settings is removed; training starts anew")
    return folder
