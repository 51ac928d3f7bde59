"""From a training's inputs to a ranker: the channels beside the towers."""

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
import pytest
import tensorflow as tf

from models.losses.settings import SoftmaxSettings, SoslSettings
from models.rankers.scorer import Bounds, Scorer, Words
from models.rankers.settings import ChannelSettings, TwoTowersSettings
from models.training.channel_weight import WEIGHTS
from models.training.list_evaluator import ListEvaluator
from models.training.settings import TrainingSettings
from schemas import features as f
from schemas.relevance import MOST_RELEVANT
from schemas.training_history import Fitted, Tried
from tests.models.eagerly import EAGERLY
from tests.models.lexicon.small_lexicon import learn, make_channel
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists
from tests.models.training_job import training_job

pytestmark = [pytest.mark.stages, *EAGERLY]  # it imports TFX

WORDS = Words(VOCABULARY_SIZE)


@pytest.fixture(scope="module")
def lists():
    """Train lists, and eval lists in which the channels score by noise and, a little, by the grades."""
    lists = learnable_lists(40, seed=2)
    noise = np.random.default_rng(1).normal(size=lists.pairs)
    scores = tf.cast(noise + 0.5 * lists.list_columns[f.RELEVANCE].flat_values.numpy(), tf.float32)
    columns = {f.fixed_score(kind): lists.documents.with_flat_values(scores) for kind in ("lexicon", "bm25")}
    return learnable_lists(40, seed=1), replace(lists, list_columns={**lists.list_columns, **columns})


@pytest.fixture(scope="module")
def inputs_of(lists):
    """The inputs of a training with channels of some weights, by their kinds."""
    from models.training.inputs import TrainingInputs

    def inputs_of(channels, similarity="smooth_cosine", loss=None, left_out=None):
        left_out = [] if left_out is None else left_out
        job = training_job(
            towers=TwoTowersSettings(embedding_dim=8, similarity=similarity),
            loss=loss or SoslSettings(),
            training=TrainingSettings(epochs=2, batch_lists=8, device="cpu").for_towers(TwoTowersSettings()),
            channels={
                kind: ChannelSettings.model_validate({"kind": kind, "weight": weight})
                for kind, weight in channels.items()
            },
            top_grade=MOST_RELEVANT,
        )
        made = TrainingInputs(
            job=job,
            transform=None,
            train_lists=lists[0],
            eval_lists=lists[1],
            vectors={},
            query_words=WORDS,
            document_words=WORDS,
            fixed_channels={kind: make_channel(learn([], [["a"]], kind)) for kind in channels if kind != "bias"},
            train_texts=lambda: pytest.fail("nothing reads them"),
            eval_texts=lambda: pytest.fail("nothing reads them"),
            held_out_texts=None,
            domains=["arts", "news"],
            without=lambda domain: left_out.append(domain) or made,
            eval_lists_of=lambda domain: lists[1],
        )
        return made

    return inputs_of


@pytest.fixture(scope="module")
def train(without_graphs, inputs_of, tmp_path_factory):
    """Trains for two epochs; the same training once."""
    from models.training.train_ranker import train_ranker

    made = {}

    def train(channels, **inputs):
        key = repr((channels, inputs))
        if key not in made:
            folder = tmp_path_factory.mktemp("training")
            folders = [str(folder / name) for name in ("log", "checkpoint")]
            strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
            made[key] = train_ranker(inputs_of(channels, **inputs), strategy, *folders)
        return made[key]

    return train


def ndcg_5(ranker, lists):
    return ListEvaluator(ranker, lists, MOST_RELEVANT).evaluate().metrics["ndcg_5"]


def test_the_towers_alone_are_trained_and_the_best_epoch_is_that_of_the_sum(train, lists):
    beside, alone = train({"lexicon": 0.8}), train({})
    assert beside.ranker.weights_of_channels == {"smooth_cosine": 1.0, "lexicon": 0.8}
    assert alone.ranker.weights_of_channels == {"smooth_cosine": 1.0}
    assert beside.history.fitted == alone.history.fitted == {}
    losses = [[row.figures["train/loss"] for row in trained.history.history] for trained in (beside, alone)]
    assert losses[0] == losses[1]  # whatever the channel scores
    assert beside.history.best_value == pytest.approx(ndcg_5(beside.ranker, lists[1]))
    assert beside.history.best_value != alone.history.best_value == pytest.approx(ndcg_5(alone.ranker, lists[1]))


def test_the_history_has_the_eval_curve_of_each_channel_alone(train):
    epochs = [row.figures for row in train({"lexicon": 0.8}).history.history]
    alone = [row.figures for row in train({}).history.history]
    for key in ("ndcg_5", "p_mr_1"):
        assert [row[f"eval/{key}/smooth_cosine"] for row in epochs] == [row[f"eval/{key}"] for row in alone]
        assert len({row[f"eval/{key}/lexicon"] for row in epochs}) == 1
    assert not any("smooth_cosine" in name for row in alone for name in row)


class BiasSettings(ChannelSettings):
    """Settings of `Bias`."""

    implementation: ClassVar[str] = f"{__name__}.Bias"

    kind: Literal["bias"] = "bias"


class Bias(Scorer):
    """Scores every document by a number that is trained."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.bias = self.add_weight(name="bias", shape=(), initializer="zeros")

    @property
    def bounds(self):
        return Bounds(-1.0, 1.0)

    def call(self, features, training=False):
        return tf.fill(tf.shape(features[f.DOCUMENT_INDEX]), self.bias)


def test_a_channel_whose_scores_are_not_fixed_is_trained_along(train, lists, monkeypatch):
    monkeypatch.setitem(ChannelSettings.kinds, "bias", BiasSettings)
    ranker, history, _ = train({"bias": 0.5, "lexicon": 0.25})
    assert ranker.channels["bias"].bias != 0
    assert ranker.weights_of_channels == {"smooth_cosine": 1.0, "bias": 0.5, "lexicon": 0.25}
    assert history.best_value == pytest.approx(ndcg_5(ranker, lists[1]))


def test_the_train_splits_scores_are_those_of_the_channel_that_is_trained(inputs_of, train, lists):
    from models.training.train_ranker import count_train_scores

    beside = count_train_scores(train({"lexicon": 0.8}).ranker, inputs_of({"lexicon": 0.8}))
    alone = train({}).ranker
    assert beside == ListEvaluator(alone, lists[0], MOST_RELEVANT).evaluate().scores
    grades = np.concatenate(lists[0].grades)
    assert {grade: sum(counts) for grade, counts in beside.counts.items()} == {
        str(grade): (grades == grade).sum() for grade in range(MOST_RELEVANT + 1)
    }


@pytest.mark.parametrize(
    ("similarity", "weights"), [("smooth_cosine", {}), ("dot", {}), ("smooth_cosine", {"bm25": 0.25})]
)
def test_a_fitted_weight_is_that_of_the_best_epochs_channels_on_the_eval_split(train, lists, similarity, weights):
    ranker, history, _ = train({"lexicon": "fitted", **weights}, similarity=similarity)
    weight = history.fitted["lexicon.weight"]
    assert ranker.weights_of_channels == {similarity: 1.0, "lexicon": weight.value, **weights}
    assert [tried.value for tried in weight.curve] == list(WEIGHTS)
    values = {tried.value: tried.ndcg_5 for tried in weight.curve}
    assert values[weight.value] == pytest.approx(ndcg_5(ranker, lists[1]))
    assert values[0.5] == pytest.approx(history.best_value)  # the weight with which the epoch is picked
    assert type(history).from_json(history.to_json()).fitted == {"lexicon.weight": weight}


def test_of_several_fitted_weights_none_alone_could_be_better(train, lists):
    ranker, history, _ = train({"lexicon": "fitted", "bm25": "fitted"})
    assert history.fitted.keys() == {"lexicon.weight", "bm25.weight"}
    best = ndcg_5(ranker, lists[1])
    for name, weight in history.fitted.items():
        assert ranker.weights_of_channels[name.removesuffix(".weight")] == weight.value
        # The curve of either weight is that with the other one as it is in the score.
        assert {tried.value: tried.ndcg_5 for tried in weight.curve}[weight.value] == pytest.approx(best)
    values = [max(tried.ndcg_5 + 0.1 * tried.p_mr_1 for tried in weight.curve) for weight in history.fitted.values()]
    assert values[0] == pytest.approx(values[1])


def test_a_held_out_weight_is_fitted_with_rankers_that_were_trained_without_each_domain(train):
    left_out = []
    _, held_out, _ = train({"lexicon": "held_out"}, left_out=left_out)
    assert left_out == ["arts", "news"]
    # Here the inputs without a domain are those of all: both rankers are the one whose weight is fitted.
    _, fitted, _ = train({"lexicon": "fitted"}, similarity="smooth_cosine")
    assert held_out.fitted["lexicon.weight"].value == fitted.fitted["lexicon.weight"].value
    curves = (history.fitted["lexicon.weight"].curve for history in (held_out, fitted))
    for left, right in zip(*curves, strict=True):
        assert (left.value, left.ndcg_5, left.p_mr_1) == pytest.approx((right.value, right.ndcg_5, right.p_mr_1))


def test_the_numbers_that_a_channel_fitted_stand_in_the_history(inputs_of, train, monkeypatch):
    fitted = Fitted(value=2, curve=[Tried(value=2, ndcg_5=0.5, p_mr_1=0.25)])
    monkeypatch.setattr(Scorer, "fitted", property(lambda scorer: {"dim": fitted} if scorer.name == "bm25" else {}))
    assert train({"lexicon": 0.5, "bm25": 0.25}).history.fitted == {"bm25.dim": fitted}


def test_the_thresholds_are_those_of_the_loss_as_the_best_epoch_left_them(train):
    fixed = train({})
    assert fixed.theta == (0.2, 0.7)
    learned = train({}, loss=SoslSettings(learn_theta=True))
    figures = learned.history.history[learned.history.best_epoch - 1].figures
    assert learned.theta == (figures["theta/1"], figures["theta/2"]) != fixed.theta
    assert train({}, loss=SoftmaxSettings()).theta == ()
