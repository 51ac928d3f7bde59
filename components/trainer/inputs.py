"""What TFX hands to a training, unpacked."""

from typing import Final

import tensorflow as tf
import tensorflow_transform as tft

from components.trainer.pretrained import read_pretrained
from components.trainer.training_arguments import TrainingArguments
from components.trainer.training_inputs import TrainingInputs
from models.lexicon.lexicon import read_lexicon
from models.lexicon.make_channel import make_channel
from models.lexicon.word_scores import with_word_scores
from models.lists.ranking_lists import read_lists
from models.settings import LossSettings, ModelSettings
from models.texts.word_table import SOURCES_KEY, WordTableSource
from schemas import features as f
from schemas.lexicon_keys import LEXICON_KEY, TEXTS_KEY

MODEL_KEY: Final = "model"
LOSS_KEY: Final = "loss"
TOP_GRADE_KEY: Final = "top_grade"
CHECKPOINTS_KEY: Final = "checkpoints"
USED_NEGATIVES_KEY: Final = "used_negatives"
CHANNEL_WEIGHT_KEY: Final = "channel_weight"


def read_inputs(fn_args: TrainingArguments) -> TrainingInputs:
    """Unpacks a training's arguments.

    Args:
      fn_args: `custom_config` holds the settings under the keys above. What a search found best replaces them.
    """
    config = fn_args.custom_config
    transform = tft.TFTransformOutput(fn_args.transform_graph_path)
    model = ModelSettings(**config[MODEL_KEY])
    # A baseline may take less of the examples than the run's own model does.
    unused = () if model.stem_embeddings else (f.QUERY_STEMS, f.DOC_STEMS)
    spec = {name: of_column for name, of_column in transform.transformed_feature_spec().items() if name not in unused}
    tables = config[SOURCES_KEY]
    sources = {name: WordTableSource(**tables[name]) for name in f.COUNTS_OF_VOCABULARY if name in tables}
    train_lists, eval_lists = (
        read_lists(_files(files), spec, config[USED_NEGATIVES_KEY])
        for files in (fn_args.train_files, fn_args.eval_files)
    )
    training = fn_args.training
    if training.negatives_from == "judged":
        train_lists = train_lists.with_judged_negatives()
    channel = make_channel(read_lexicon(config[LEXICON_KEY])) if LEXICON_KEY in config else None
    if channel:
        texts = read_lists(_files([config[TEXTS_KEY]]), used_negatives=config[USED_NEGATIVES_KEY])
        eval_lists = with_word_scores(eval_lists, texts, channel)
    inputs = TrainingInputs(
        model=model,
        loss=LossSettings(**config[LOSS_KEY]),
        training=training,
        top_grade=config[TOP_GRADE_KEY],
        transform=transform,
        train_lists=train_lists,
        eval_lists=eval_lists,
        pretrained={name: read_pretrained(transform, name, source) for name, source in sources.items()},
        channel=channel,
        channel_weight=config.get(CHANNEL_WEIGHT_KEY, 0.0),
    )
    return inputs.with_numbers(best_numbers(fn_args))


def best_numbers(fn_args: TrainingArguments) -> dict[str, float]:
    """What a search before the training found best, if there was one."""
    return fn_args.hyperparameters["values"] if fn_args.hyperparameters else {}


def _files(patterns: list[str]) -> list[str]:
    return [path for pattern in patterns for path in tf.io.gfile.glob(pattern)]
