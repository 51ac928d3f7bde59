"""From a training's inputs to a trained ranker, for Trainer and Tuner."""

from typing import Final, NamedTuple

import tensorflow as tf

from components.trainer.pretrained import vocabulary_size
from components.trainer.training_inputs import TrainingInputs
from models.lexicon.settings import FITTED
from models.make_objective import make_objective
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.training.channel_weight import fit_weight
from models.training.list_evaluator import ListEvaluator
from models.training.train import train
from schemas import features as f
from schemas.training_history import ScoreCounts, TrainingHistory

_FIRST_WEIGHT: Final = 0.5
"""That of the channel while the best epoch is picked, where the weight is fitted in the end."""


class Trained(NamedTuple):
    """What a training made."""

    ranker: Ranker
    """With the best epoch's weights."""
    history: TrainingHistory
    theta: tuple[float, ...]
    """The thresholds of the loss, likewise; empty where it has none."""


def train_ranker(
    inputs: TrainingInputs, strategy: tf.distribute.Strategy, log_dir: str, checkpoint_dir: str
) -> Trained:
    """Trains a new ranker: a channel with the name of its similarity, and one of words that match if there is one.

    The towers alone are trained; the best epoch is that of the sum.

    Args:
      inputs: settings and data.
      strategy: see `models.training.devices`.
      log_dir, checkpoint_dir: see `models.training.train`.

    Raises:
      DataError: a vocabulary is empty, or see `models.training.train`.
    """
    query_words, document_words = (_words(inputs, name) for name in (f.QUERY_VOCABULARY, f.DOCUMENT_VOCABULARY))
    name = inputs.model.similarity
    with strategy.scope():
        towers = TwoTowers(query_words, document_words, inputs.model, seed=inputs.training.seed)
        trained = Ranker({name: towers})
        objective = make_objective(trained, inputs.loss, inputs.top_grade)
    weight = _FIRST_WEIGHT if inputs.channel_weight == FITTED else inputs.channel_weight
    evaluator = ListEvaluator(_with_channel(trained, inputs, weight), inputs.eval_lists, inputs.top_grade)
    history = train(objective, inputs.train_lists, evaluator, inputs.training, log_dir, checkpoint_dir)
    if inputs.channel and inputs.channel_weight == FITTED:
        found = fit_weight(inputs.eval_lists, towers, inputs.channel, inputs.top_grade)
        weight = found.weight
        history = history.model_copy(update={"channel_weight": found})
    return Trained(_with_channel(trained, inputs, weight), history, tuple(objective.loss.current_theta()))


def count_train_scores(trained: Ranker, inputs: TrainingInputs) -> ScoreCounts:
    """The scores that the channel which was trained gives the train split."""
    towers = Ranker({inputs.model.similarity: trained.channels[inputs.model.similarity]})
    return ListEvaluator(towers, inputs.train_lists, inputs.top_grade).count_scores()


def _with_channel(trained: Ranker, inputs: TrainingInputs, weight: float) -> Ranker:
    """The ranker whose score is that of the towers and of the words that match, if these have a channel."""
    if inputs.channel is None:
        return trained
    (name,) = trained.channels
    kind = inputs.channel.name
    return Ranker({**trained.channels, kind: inputs.channel}, {name: 1.0, kind: weight})


def _words(inputs: TrainingInputs, vocabulary: str) -> Words:
    """The words of a language, with their pre-trained vectors if it has some."""
    stems = 0
    if inputs.model.stem_embeddings:
        stems = inputs.transform.vocabulary_size_by_name(f.STEMS_OF_VOCABULARY[vocabulary])
    if vocabulary not in inputs.pretrained:
        return Words(vocabulary_size(inputs.transform, vocabulary), stems=stems)
    pretrained = inputs.pretrained[vocabulary]
    return Words(pretrained.vocabulary_size, pretrained.vectors, pretrained.train, stems)
