"""Where what a kill leaves unfinished is kept: TFX removes all folders of an execution that fails."""

import hashlib
import json
import logging
import os

import tensorflow as tf

from components.trainer.inputs import CHECKPOINTS_KEY, best_numbers
from components.trainer.training_arguments import TrainingArguments
from components.trainer.training_inputs import TrainingInputs

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
    checkpoints = fn_args.custom_config[CHECKPOINTS_KEY]
    for other in tf.io.gfile.listdir(checkpoints) if removes and tf.io.gfile.exists(checkpoints) else []:
        if other.rstrip("/") != key:
            log.info("an unfinished training of other data, code or settings is removed; training starts anew")
            tf.io.gfile.rmtree(os.path.join(checkpoints, other))
    return os.path.join(checkpoints, key)
