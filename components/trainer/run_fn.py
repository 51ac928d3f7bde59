"""The run function of TFX's Trainer: unpacks its arguments and calls plain training in `models`."""

import json
import logging
import os
from dataclasses import asdict

import tensorflow as tf
from tfx.components.trainer.fn_args_utils import FnArgs
from tfx.dsl.io import fileio

from components.trainer.inputs import CHECKPOINTS_KEY, read_inputs
from components.trainer.unfinished import unfinished_folder
from models.devices import make_strategy
from models.export import export_ranker
from models.losses.make_loss import make_loss
from models.training import train
from schemas import features as f
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
    with strategy.scope():
        ranker, loss = inputs.make_ranker(), make_loss(inputs.loss)
    result = train(
        ranker,
        loss,
        inputs.train_lists,
        inputs.eval_lists,
        inputs.top_grade,
        strategy,
        training,
        fn_args.model_run_dir,
        unfinished_folder(fn_args, inputs, strategy.num_replicas_in_sync),
    )
    log.info(
        "best epoch %d: eval %s %.4f; %s pairs per second",
        *(result.best_epoch, training.best_metric, result.best_value),
        f"{result.pairs_per_second:,.0f}",
    )
    layer = inputs.transform.transform_features_layer()

    def tokens(text_feature: str, token_feature: str, texts: tf.Tensor) -> tf.RaggedTensor:
        # Each signature feeds the one feature that it has; the layer leaves the rest of its graph out.
        return layer({text_feature: texts})[token_feature]

    export_ranker(
        ranker,
        lambda texts: tokens(f.QUERY_TEXT, f.QUERY_TOKENS, texts),
        lambda texts: tokens(f.DOC_TEXT, f.DOC_TOKENS, tf.RaggedTensor.from_uniform_row_length(texts, 1)).merge_dims(
            0, 1
        ),
        layer,
        fn_args.serving_model_dir,
    )
    with fileio.open(os.path.join(fn_args.model_run_dir, HISTORY_FILE), "w") as history:
        json.dump({"train_pairs": inputs.train_lists.pairs, **asdict(result)}, history)
    if vectors:
        with fileio.open(os.path.join(fn_args.model_run_dir, VECTORS_FILE), "w") as file:
            json.dump({side: report.to_json() for side, report in vectors.items()}, file, indent=2, ensure_ascii=False)
    fileio.rmtree(fn_args.custom_config[CHECKPOINTS_KEY])
