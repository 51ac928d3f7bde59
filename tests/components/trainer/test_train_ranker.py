"""From a training's inputs to a ranker: the channel of words that match beside the towers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from models.lexicon.make_channel import make_channel
from models.settings import LossSettings, ModelSettings, TrainingSettings
from models.training.channel_weight import WEIGHTS
from models.training.list_evaluator import ListEvaluator
from schemas import features as f
from schemas.relevance import MOST_RELEVANT
from tests.models.lexicon.small_lexicon import learn
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists

pytestmark = [pytest.mark.training, pytest.mark.beam]  # it imports TFX


@pytest.fixture(scope="module")
def lists():
    """Train lists, and eval lists in which the channel scores by noise and, a little, by the grades."""
    found = learnable_lists(40, seed=2)
    noise = np.random.default_rng(1).normal(size=found.pairs)
    scores = tf.cast(noise + 0.5 * found.list_columns[f.RELEVANCE].flat_values.numpy(), tf.float32)
    column = found.documents.with_flat_values(scores)
    return learnable_lists(40, seed=1), replace(found, list_columns={**found.list_columns, f.WORD_SCORE: column})


@pytest.fixture
def inputs_of(lists):
    """What a training takes beside a channel of a weight, or without one."""
    from components.trainer.training_inputs import TrainingInputs

    def inputs_of(weight, kind="lexicon", similarity="smooth_cosine", loss=None):
        return TrainingInputs(
            model=ModelSettings(embedding_dim=8, similarity=similarity),
            loss=loss or LossSettings(),
            training=TrainingSettings(epochs=2, batch_lists=8, device="cpu").for_encoder("mean"),
            top_grade=MOST_RELEVANT,
            transform=SimpleNamespace(
                vocabulary_size_by_name=lambda name: VOCABULARY_SIZE, vocabulary_by_name=lambda name: [b"1 word"]
            ),
            train_lists=lists[0],
            eval_lists=lists[1],
            pretrained={},
            channel=make_channel(learn([], [["a"]], kind)) if kind else None,
            channel_weight=weight,
        )

    return inputs_of


@pytest.fixture
def train(inputs_of, tmp_path):
    """Trains for two epochs."""
    from components.trainer.train_ranker import train_ranker

    def train(weight, kind="lexicon", similarity="smooth_cosine", loss=None):
        inputs = inputs_of(weight, kind, similarity, loss)
        own = tmp_path / str(len(list(tmp_path.iterdir())))
        folders = [str(own / name) for name in ("log", "checkpoint")]
        return train_ranker(inputs, tf.distribute.OneDeviceStrategy("/cpu:0"), *folders)

    return train


def ndcg_5(ranker, lists):
    return ListEvaluator(ranker, lists, MOST_RELEVANT).evaluate().metrics["ndcg_5"]


def test_the_towers_alone_are_trained_and_the_best_epoch_is_that_of_the_sum(train, lists):
    beside, alone = train(0.8), train(0.0, kind=None)
    assert beside.ranker.weights_of_channels == {"smooth_cosine": 1.0, "lexicon": 0.8}
    assert beside.history.channel_weight is None
    losses = [[row.figures["train/loss"] for row in one.history.history] for one in (beside, alone)]
    assert losses[0] == losses[1]  # whatever the channel scores
    assert beside.history.best_value == pytest.approx(ndcg_5(beside.ranker, lists[1]))
    assert beside.history.best_value != alone.history.best_value == pytest.approx(ndcg_5(alone.ranker, lists[1]))


def test_the_train_splits_scores_are_those_of_the_channel_that_is_trained(inputs_of, train, lists):
    from components.trainer.train_ranker import count_train_scores

    beside = count_train_scores(train(0.8).ranker, inputs_of(0.8))
    alone = train(0.0, kind=None).ranker
    assert beside == ListEvaluator(alone, lists[0], MOST_RELEVANT).evaluate().scores
    grades = np.concatenate(lists[0].grades)
    assert {grade: sum(counts) for grade, counts in beside.counts.items()} == {
        str(grade): (grades == grade).sum() for grade in range(MOST_RELEVANT + 1)
    }


@pytest.mark.parametrize("similarity", ["smooth_cosine", "dot"])
def test_a_fitted_weight_is_that_of_the_best_epochs_towers_on_the_eval_split(train, lists, similarity):
    ranker, history, _ = train("fitted", similarity=similarity)
    found = history.channel_weight
    assert ranker.weights_of_channels == {similarity: 1.0, "lexicon": found.weight}
    assert [one.weight for one in found.curve] == list(WEIGHTS)
    of_weight = {one.weight: one.ndcg_5 for one in found.curve}
    assert of_weight[found.weight] == pytest.approx(ndcg_5(ranker, lists[1]))
    assert of_weight[0.5] == pytest.approx(history.best_value)  # the weight with which the epoch is picked
    assert type(history).from_json(history.to_json()).channel_weight == found


@pytest.mark.parametrize("kind", ["bm25", "tfidf"])
def test_the_channel_has_the_name_of_its_kind(train, kind):
    assert train(0.5, kind=kind).ranker.weights_of_channels == {"smooth_cosine": 1.0, kind: 0.5}


def test_without_a_channel_there_is_one_score_and_nothing_to_fit(train):
    ranker, history, _ = train("fitted", kind=None)
    assert ranker.weights_of_channels == {"smooth_cosine": 1.0}
    assert history.channel_weight is None


def test_the_thresholds_are_those_of_the_loss_as_the_best_epoch_left_them(train):
    given = train(0.0, kind=None)
    assert given.theta == (0.2, 0.7)
    learned = train(0.0, kind=None, loss=LossSettings(learn_theta=True))
    figures = learned.history.history[learned.history.best_epoch - 1].figures
    assert learned.theta == (figures["theta/1"], figures["theta/2"]) != given.theta
    assert train(0.0, kind=None, loss=LossSettings(name="softmax")).theta == ()
