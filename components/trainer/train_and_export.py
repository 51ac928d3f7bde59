"""A Trainer's whole work: from its arguments to an exported model."""

import json
import logging
import os
from typing import Any

import tensorflow as tf

from components.trainer.inputs import CHECKPOINTS_KEY, best_numbers, read_inputs
from components.trainer.train_ranker import count_train_scores, train_ranker
from components.trainer.training_arguments import TrainingArguments
from components.trainer.transformed_texts import TransformedTexts
from components.trainer.unfinished import unfinished_folder
from models.exported.export import export_ranker
from models.training.workers import Chief
from models.tuning.settings import searched_settings
from schemas.training_history import HISTORY_FILE, VECTORS_FILE

log = logging.getLogger("clir.training")


def train_and_export(arguments: dict[str, Any], strategy: tf.distribute.Strategy) -> None:
    """Trains a ranker on transformed lists and exports it; of several workers the chief writes.

    Args:
      arguments: of a `TrainingArguments`; `custom_config` holds, besides what `read_inputs` takes, the folder of
        unfinished trainings (TFX removes all folders of an execution that fails), and the code's digest.
      strategy: see `models.training.devices`.

    Raises:
      DataError: a split has no lists or no known word.
    """
    fn_args = TrainingArguments(**arguments)
    inputs = read_inputs(fn_args)
    training = inputs.training
    vectors = {name.removesuffix("_vocabulary"): one.report for name, one in inputs.pretrained.items()}
    for side, report in vectors.items():
        log.info("%s %s", side, report.describe())
    log_dir, model_dir = str(fn_args.model_run_dir), str(fn_args.serving_model_dir)
    chief = Chief(strategy)
    devices = f"{strategy.num_replicas_in_sync} replicas in {chief.workers} workers"
    unfinished = unfinished_folder(fn_args, inputs, devices, removes=chief.is_here)
    ranker, history, theta = train_ranker(inputs, strategy, log_dir, unfinished)
    if not chief.is_here:
        return
    log.info(
        "best epoch %d: eval %s %.4f; %s pairs per second",
        *(history.best_epoch, training.best_metric, history.best_value),
        f"{history.pairs_per_second:,.0f}",
    )
    history = history.model_copy(
        update={
            "train_scores": count_train_scores(ranker, inputs),
            "searched": searched_settings(best_numbers(fn_args)),
        }
    )
    export_ranker(ranker, TransformedTexts(inputs.transform), model_dir, theta)
    with tf.io.gfile.GFile(os.path.join(log_dir, HISTORY_FILE), "w") as file:
        file.write(history.to_json())
    if vectors:
        with tf.io.gfile.GFile(os.path.join(log_dir, VECTORS_FILE), "w") as file:
            json.dump({side: report.as_dict() for side, report in vectors.items()}, file, indent=2, ensure_ascii=False)
    tf.io.gfile.rmtree(fn_args.custom_config[CHECKPOINTS_KEY])
