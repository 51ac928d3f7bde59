"""Where what a kill leaves unfinished is kept: TFX removes all folders of an execution that fails."""

import hashlib
import json
import logging
import os

from tfx.components.trainer.fn_args_utils import FnArgs
from tfx.dsl.io import fileio

from components.trainer.inputs import CHECKPOINTS_KEY, best_numbers
from components.trainer.training_inputs import TrainingInputs

log = logging.getLogger("clir.training")


def unfinished_folder(fn_args: FnArgs, inputs: TrainingInputs, replicas: int) -> str:
    """The folder of a training or a search; those of others, whatever they were, are of no more use.

    Args:
      fn_args: TFX's; `custom_config` names the folder of all.
      inputs: what was read from them.
      replicas: over how many the training sums.

    Returns:
      a folder named by a digest of all that decides a training: settings, code, data, replicas.
    """
    settings = json.dumps([fn_args.custom_config, best_numbers(fn_args)], sort_keys=True)
    parts = [settings, inputs.train_lists.digest(), inputs.eval_lists.digest(), str(replicas)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    checkpoints = fn_args.custom_config[CHECKPOINTS_KEY]
    for other in fileio.listdir(checkpoints) if fileio.exists(checkpoints) else []:
        if other.rstrip("/") != key:
            log.info("an unfinished training of other data, code or settings is removed; training starts anew")
            fileio.rmtree(os.path.join(checkpoints, other))
    return os.path.join(checkpoints, key)
