"""From a training's inputs to a trained ranker, for Trainer and Tuner."""

from typing import NamedTuple

import tensorflow as tf

from components.trainer.pretrained import vocabulary_size
from components.trainer.training_inputs import TrainingInputs
from models.list_evaluator import ListEvaluator
from models.make_objective import make_objective
from models.ranker import Ranker
from models.training import train
from models.two_towers import TwoTowers, Words
from schemas import features as f
from schemas.training_history import TrainingHistory


class Trained(NamedTuple):
    """What a training made."""

    ranker: Ranker
    """With the best epoch's weights."""
    history: TrainingHistory


def train_ranker(
    inputs: TrainingInputs, strategy: tf.distribute.Strategy, log_dir: str, checkpoint_dir: str
) -> Trained:
    """Trains a new ranker, whose one channel has the name of its similarity.

    Args:
      inputs: settings and data.
      strategy: see `models.devices`.
      log_dir, checkpoint_dir: see `models.training.train`.

    Raises:
      DataError: a vocabulary is empty, or see `models.training.train`.
    """
    query_words, document_words = (_words(inputs, name) for name in (f.QUERY_VOCABULARY, f.DOCUMENT_VOCABULARY))
    with strategy.scope():
        towers = TwoTowers(query_words, document_words, inputs.model, seed=inputs.training.seed)
        ranker = Ranker({inputs.model.similarity: towers})
        objective = make_objective(ranker, inputs.loss, inputs.top_grade)
    evaluator = ListEvaluator(ranker, inputs.eval_lists, inputs.top_grade)
    return Trained(ranker, train(objective, inputs.train_lists, evaluator, inputs.training, log_dir, checkpoint_dir))


def _words(inputs: TrainingInputs, vocabulary: str) -> Words:
    """The words of a language, with their pre-trained vectors if it has some."""
    if vocabulary not in inputs.pretrained:
        return Words(vocabulary_size(inputs.transform, vocabulary))
    pretrained = inputs.pretrained[vocabulary]
    return Words(pretrained.vocabulary_size, pretrained.vectors, pretrained.train)
