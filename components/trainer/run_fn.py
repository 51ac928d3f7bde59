"""The run function of TFX's Trainer: unpacks its arguments and calls plain training in `models`."""

import json
import logging
import os

from tfx.components.trainer.fn_args_utils import FnArgs
from tfx.dsl.io import fileio

from components.trainer.inputs import CHECKPOINTS_KEY, best_numbers, read_inputs
from components.trainer.train_ranker import count_train_scores, train_ranker
from components.trainer.transformed_texts import TransformedTexts
from components.trainer.unfinished import unfinished_folder
from models.devices import make_strategy
from models.export import export_ranker
from models.tuning_settings import searched_settings
from schemas.training_files import HISTORY_FILE, VECTORS_FILE

log = logging.getLogger("clir.training")


def run_fn(fn_args: FnArgs) -> None:
    """Trains a ranker on transformed lists and exports it.

    Args:
      fn_args: TFX's; `custom_config` holds, besides what `read_inputs` takes, the folder of unfinished trainings (TFX
        removes all folders of an execution that fails), and the code's digest.

    Raises:
      DataError: a split has no lists or no known word.
    """
    inputs = read_inputs(fn_args)
    training = inputs.training
    vectors = {name.removesuffix("_vocabulary"): one.report for name, one in inputs.pretrained.items()}
    for side, report in vectors.items():
        log.info("%s %s", side, report.describe())
    strategy = make_strategy(training)
    unfinished = unfinished_folder(fn_args, inputs, strategy.num_replicas_in_sync)
    ranker, history, theta = train_ranker(inputs, strategy, fn_args.model_run_dir, unfinished)
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
    export_ranker(ranker, TransformedTexts(inputs.transform), fn_args.serving_model_dir, theta)
    with fileio.open(os.path.join(fn_args.model_run_dir, HISTORY_FILE), "w") as file:
        file.write(history.to_json())
    if vectors:
        with fileio.open(os.path.join(fn_args.model_run_dir, VECTORS_FILE), "w") as file:
            json.dump({side: report.as_dict() for side, report in vectors.items()}, file, indent=2, ensure_ascii=False)
    fileio.rmtree(fn_args.custom_config[CHECKPOINTS_KEY])
