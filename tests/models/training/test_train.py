"""Training on lists that can be learned in seconds."""

import logging
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.adversary_settings import AdversarySettings
from models.evaluation.metrics import METRICS
from models.layers.settings import MeanSettings
from models.losses.settings import SoslSettings
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.make_objective import make_objective
from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.training import checkpoint as training_checkpoint
from models.training import list_evaluator
from models.training.checkpoint import TrainingCheckpoint
from models.training.devices import make_strategy
from models.training.list_evaluator import EvalFigures, ListEvaluator, score_bins
from models.training.settings import TrainingSettings
from models.training.train import train
from schemas.errors import DataError
from schemas.relevance import MOST_RELEVANT, grade_name
from schemas.training_history import ScoreCounts
from tests.models.eagerly import EAGERLY, with_graphs
from tests.models.synthetic import TOPICS, VOCABULARY_SIZE, WORDS_OF_A_TOPIC, learnable_lists
from tests.models.training_job import training_job

# Operation by operation, which takes a third of the time; one training is compared with that of a graph.
pytestmark = [pytest.mark.stages, *EAGERLY]

MODEL = TwoTowersSettings(embedding_dim=8)
TRAIN, EVAL = learnable_lists(30, seed=1), learnable_lists(20, seed=2)
WORDS = Words(VOCABULARY_SIZE)


def make_ranker(seed, model=MODEL, words=(WORDS, WORDS)):
    return Ranker({"score": TwoTowers(*words, model, seed=seed)})


def run(
    folder,
    train_lists=TRAIN,
    eval_lists=EVAL,
    strategy=None,
    learn_theta=False,
    model=MODEL,
    words=(WORDS, WORDS),
    evaluator=ListEvaluator,
    adversary=None,
    held_out_texts=None,
    **values,
):
    """Trains a new ranker, or goes on where the folder's checkpoint is: (its towers, history)."""
    values = {"epochs": 3, "batch_lists": 8, "learning_rate": 0.3, "device": "cpu"} | values
    settings = TrainingSettings(**values).for_towers(TwoTowersSettings())
    strategy = strategy or make_strategy(settings)
    with strategy.scope():
        ranker = make_ranker(settings.seed, model, words)
        loss = SoslSettings(learn_theta=learn_theta)
        job = training_job(loss=loss, training=settings, adversary=adversary or {}, top_grade=MOST_RELEVANT)
        objective = make_objective(ranker, job, train_lists.domains, held_out=int(held_out_texts is not None))
    folders = [str(folder / name) for name in ("log", "checkpoint")]
    evaluator = evaluator(ranker, eval_lists, MOST_RELEVANT)
    history = train(objective, train_lists, evaluator, settings, *folders, held_out_texts)
    return ranker, history


def assert_equal(training, repeated):
    """Compares the histories and the weights of two trainings bit for bit."""
    (ranker, history), (repeated_ranker, repeated_history) = training, repeated
    assert repeated_history.history == history.history
    assert (repeated_history.best_epoch, repeated_history.best_value) == (history.best_epoch, history.best_value)
    assert repeated_history.theta == history.theta
    assert all(map(np.array_equal, repeated_ranker.get_weights(), ranker.get_weights()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("training")


@pytest.fixture(scope="module")
def trained(without_graphs, folder):
    """A training that learns the thresholds, too."""
    return run(folder, learn_theta=True)


def test_loss_falls_and_the_metrics_rise(trained):
    _, result = trained
    losses = [row.figures["train/loss"] for row in result.history]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 2
    assert result.best_value > result.history[0].figures["eval/ndcg_5"]


def test_history_has_a_row_an_epoch_with_loss_gradients_thresholds_scores_and_every_metric(trained):
    _, result = trained
    assert [row.epoch for row in result.history] == [1, 2, 3]
    names = ("learning_rate", "loss", "gradient_norm_mean", "gradient_norm_max", "clipped_share")
    keys = {*(f"train/{name}" for name in names), *(f"eval/{key}" for key in METRICS), "theta/1", "theta/2"}
    keys |= {f"score_gradient/{name}" for name in ("max", "plain_cosine_max", "bound")}
    assert all(set(row.figures) == keys for row in result.history)
    for row in result.history:
        assert 0 < row.figures["train/gradient_norm_mean"] <= row.figures["train/gradient_norm_max"]
        assert row.figures["train/clipped_share"] == 0  # none is longer than clip_norm
        assert 0 < row.figures["score_gradient/max"] <= row.figures["score_gradient/bound"] == 1
        assert row.figures["score_gradient/max"] < row.figures["score_gradient/plain_cosine_max"]
    assert result.pairs_per_second > 0
    assert result.steps == 3 * (len(TRAIN) // 8)


def test_learned_thresholds_move_in_order_and_the_result_has_the_best_epoch_s(trained, tmp_path):
    _, result = trained
    thetas = [[row.figures["theta/1"], row.figures["theta/2"]] for row in result.history]
    assert all(-1 < low < high < 1 for low, high in thetas)
    assert all(theta != following for theta, following in pairwise([[0.2, 0.7], *thetas]))
    assert result.theta == thetas[result.best_epoch - 1]
    assert run(tmp_path, epochs=1)[1].theta is None


def test_the_score_counts_of_an_epoch_hold_every_score_of_each_grade(trained):
    ranker, result = trained
    scores = ListEvaluator(ranker, EVAL, MOST_RELEVANT).scores()
    grades = np.concatenate(EVAL.grades)
    limit, counts = result.best.scores.limit, result.best.scores.counts
    assert (limit, list(counts)) == (1, ["0", "1", "2"])
    for grade, grade_counts in counts.items():
        expected = np.concatenate(scores)[grades == int(grade)]
        assert grade_counts == [sum(low <= score < high for score in expected) for low, high in pairwise(score_bins(1))]


def test_tensorboard_events_hold_the_history(trained, folder):
    _, result = trained
    scalars, histograms = {}, {}
    for path in (folder / "log").glob("events.out.tfevents.*"):
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                (histograms if plugin == "histograms" else scalars)[value.tag, event.step] = tf.make_ndarray(
                    value.tensor
                )
    assert scalars == {
        (key, row.epoch): pytest.approx(value) for row in result.history for key, value in row.figures.items()
    }
    for row in result.history:
        for grade, counts in row.scores.counts.items():
            low, high, count = histograms.pop((f"scores/{grade_name(int(grade), 2)}", row.epoch)).T
            bins = score_bins(row.scores.limit).tolist()
            assert (low.tolist(), high.tolist()) == (bins[:-1], bins[1:])
            assert count.tolist() == counts
    assert not histograms


def test_a_graph_or_two_replicas_train_as_operations_on_one_device_do(trained, two_replicas, tmp_path):
    with with_graphs():
        graph = run(tmp_path / "graph", learn_theta=True)
    two_device = run(tmp_path / "two", strategy=two_replicas, replicas=2, learn_theta=True)
    for _, result in (graph, two_device):
        for row, expected in zip(result.history, trained[1].history, strict=True):
            for key in ("train/loss", "train/gradient_norm_mean", "eval/ndcg_5", "theta/1", "theta/2"):
                assert row.figures[key] == pytest.approx(expected.figures[key], abs=5e-5)


def test_scores_beyond_one_widen_the_bins_of_all_grades(tmp_path):
    ranker, result = run(tmp_path, model=MODEL.model_copy(update={"similarity": "dot"}), epochs=1, learning_rate=1.0)
    scores = np.concatenate(ListEvaluator(ranker, EVAL, MOST_RELEVANT).scores())
    limit, counts = result.best.scores.limit, result.best.scores.counts
    assert limit == np.abs(scores).max() > 1
    assert np.sum(list(counts.values())) == len(scores)
    assert np.sum(list(counts.values()), axis=0).tolist() == np.histogram(scores, score_bins(limit))[0].tolist()
    assert result.history[0].figures["score_gradient/bound"] == 8**0.5


@pytest.fixture
def scripted():
    """Eval metrics by a script: put them into the list; its weights hold those of the ranker at each evaluation."""

    class ScriptedEvaluator:
        values: list[float] = []
        weights: list[list[np.ndarray]] = []

        def __init__(self, ranker, lists, top_grade):
            self.ranker = ranker

        def __len__(self):
            return 1

        def evaluate(self):
            self.weights.append(self.ranker.get_weights())
            metrics = dict.fromkeys(METRICS, self.values[len(self.weights) - 1])
            return EvalFigures(metrics, {}, ScoreCounts(limit=1.0, counts={}), {})

    return ScriptedEvaluator


def test_patience_stops_early_and_the_ranker_holds_the_first_best_epochs_weights(scripted, tmp_path):
    scripted.values = [0.1, 0.5, 0.3, 0.5, 0.4, 0.9]
    ranker, result = run(tmp_path, epochs=6, patience=3, evaluator=scripted)
    assert len(result.history) == 2 + 3
    assert (result.best_epoch, result.best_value) == (2, 0.5)
    assert all(map(np.array_equal, ranker.get_weights(), scripted.weights[1]))
    assert not any(map(np.array_equal, ranker.get_weights(), scripted.weights[-1]))


def test_the_learning_rate_decays_after_each_epoch(scripted, tmp_path):
    scripted.values = [0.1, 0.2, 0.3]
    _, result = run(tmp_path, epochs=3, learning_rate=0.3, learning_rate_decay=1e-12, evaluator=scripted)
    rates = [row.figures["train/learning_rate"] for row in result.history]
    assert rates == pytest.approx([0.3, 0.3e-12, 0.3e-24])
    first, second, third = scripted.weights
    assert all(map(np.array_equal, second, first))  # such steps are lost in rounding
    assert all(map(np.array_equal, third, first))


def test_null_epochs_follow_from_the_number_of_lists(scripted, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(TrainingSettings, "epochs_of", lambda settings, lists: lists // 2 if not settings.epochs else 0)
    scripted.values = [0.1] * 4
    with caplog.at_level(logging.INFO, "clir.progress"):
        _, result = run(tmp_path, learnable_lists(8, seed=1), epochs=None, learning_rate_end=0.5, evaluator=scripted)
    assert len(result.history) == 4
    assert result.history[-1].figures["train/learning_rate"] == pytest.approx(0.3 * 0.5)
    assert caplog.messages[0].startswith("epoch 1/4, ")


# Pre-trained vectors

VECTORS = np.random.default_rng(1).normal(scale=0.1, size=(VOCABULARY_SIZE // 2, 8)).astype(np.float32)
FROZEN_QUERIES = Words(VOCABULARY_SIZE, VECTORS, train=False), Words(VOCABULARY_SIZE, VECTORS, train=True)


@pytest.mark.parametrize("replicas", [1, 2])
def test_frozen_vectors_do_not_move_in_training_and_others_do(replicas, two_replicas, tmp_path):
    strategy = two_replicas if replicas == 2 else None
    ranker, result = run(tmp_path, words=FROZEN_QUERIES, strategy=strategy, replicas=replicas, epochs=2)
    towers = ranker.channels["score"]
    frozen, moved = (
        encoder.table.numpy()[: len(VECTORS)] for encoder in (towers.query_encoder, towers.document_encoder)
    )
    np.testing.assert_array_equal(frozen, VECTORS)
    assert (moved != VECTORS).any(axis=1).all()
    assert result.history[-1].figures["train/loss"] < result.history[0].figures["train/loss"]


# A training that was killed


class Killed(BaseException):
    """Stands for a kill: nothing handles it."""


@pytest.fixture
def killed(tmp_path, monkeypatch):
    """Trains until an epoch's evaluation, and dies there; whatever it left is in the folder."""

    def run_and_die(epoch, **values):
        class Dying(ListEvaluator):
            evaluations = 0

            def evaluate(self):
                self.evaluations += 1
                if self.evaluations == epoch:
                    raise Killed
                return super().evaluate()

        with monkeypatch.context() as patch:
            patch.setattr(training_checkpoint, "_LARGEST_SHARE", 1e9)  # every epoch is saved
            with pytest.raises(Killed):
                run(tmp_path, evaluator=Dying, **values)
        return tmp_path

    return run_and_die


@pytest.mark.parametrize("epoch", [1, 3])
def test_a_killed_training_goes_on_and_ends_bit_identically(trained, killed, epoch, caplog):
    folder = killed(epoch, learn_theta=True)
    with caplog.at_level(logging.INFO, "clir"):
        assert_equal(trained, run(folder, learn_theta=True))
    epochs = [line.split(",")[0] for line in caplog.messages if "loss" in line]
    assert epochs == [f"epoch {number}/3" for number in range(epoch, 4)]  # none is repeated


def test_a_training_killed_twice_goes_on_twice(trained, killed):
    killed(2, learn_theta=True)
    assert_equal(trained, run(killed(2, learn_theta=True), learn_theta=True))


def with_stems(lists):
    """Lists whose words have their topic for a stem."""
    columns = {}
    for name in ("query", "doc"):
        tokens = (lists.query_columns if name == "query" else lists.document_columns)[f"{name}_tokens"]
        columns[name] = {f"{name}_stems": tokens.with_flat_values(tokens.flat_values // WORDS_OF_A_TOPIC)}
    return replace(
        lists,
        query_columns={**lists.query_columns, **columns["query"]},
        document_columns={**lists.document_columns, **columns["doc"]},
    )


STATES = {
    "train_lists": with_stems(TRAIN),
    "eval_lists": with_stems(EVAL),
    "model": TwoTowersSettings(
        embedding_dim=8, encoder=MeanSettings(dropout=0.4, word_dropout=0.25, stem_embeddings=True)
    ),
    "words": tuple(words._replace(stems=TOPICS) for words in FROZEN_QUERIES),
    "learning_rate_end": 0.1,
}
"""Dropout, dropout of words, stems, and vectors that stay as they are."""
DOMAINS = tf.constant(["arts", "news"] * 15)
ADVERSARY = {
    "train_lists": replace(TRAIN, query_columns={**TRAIN.query_columns, "query_domain": DOMAINS}),
    "held_out_texts": EVAL.with_random_documents(seed=1),
    "sampling": "equal",
}


@pytest.mark.parametrize(
    ("replicas", "values"),
    [
        (1, STATES),
        (2, STATES),
        (1, {"objective": {"kind": "drawn", "documents": 2}}),
        *(
            (1, {**ADVERSARY, "adversary": AdversarySettings(weight=0.5, updates=updates)})
            for updates in ("simultaneous", "alternate")
        ),
    ],
    ids=["one replica", "two replicas", "drawn documents", "adversary", "alternating adversary"],
)
def test_a_killed_training_goes_on_with_all_its_states(replicas, values, two_replicas, killed, tmp_path):
    values = {"epochs": 2, "replicas": replicas, "strategy": two_replicas if replicas == 2 else None, **values}
    whole = run(tmp_path / "whole", **values)
    assert_equal(whole, run(killed(2, **values), **values))
    if "adversary" in values:
        assert all(0 < row.figures["train/domain_accuracy"] < 1 for row in whole[1].history)


def test_patience_and_the_best_weights_outlive_a_kill(scripted, tmp_path, monkeypatch):
    monkeypatch.setattr(training_checkpoint, "_LARGEST_SHARE", 1e9)
    scripted.values = [0.1, 0.5, 0.3]
    with pytest.raises(IndexError):  # the script ends: so does the training
        run(tmp_path, epochs=6, patience=3, evaluator=scripted)
    scripted.values = [0.1, 0.5, 0.3, None, 0.3, 0.5, 0.9]
    ranker, result = run(tmp_path, epochs=6, patience=3, evaluator=scripted)
    assert (result.best_epoch, len(result.history)) == (2, 5)
    assert all(map(np.array_equal, ranker.get_weights(), scripted.weights[1]))


def test_a_training_killed_at_its_end_only_takes_the_best_weights(trained, folder):
    assert_equal(trained, run(folder, learn_theta=True))


def test_a_checkpoint_that_cannot_be_read_is_an_error_that_names_it(killed):
    folder = killed(3)
    (data,) = (folder / "checkpoint").glob("*.data*")
    data.write_bytes(data.read_bytes()[:100])
    with pytest.raises(DataError, match=rf"{folder}/checkpoint/ckpt-\d+"):
        run(folder)


def test_saving_takes_at_most_a_twentieth_of_the_time(tmp_path, monkeypatch):
    ranker = make_ranker(seed=1)
    ranker(TRAIN.batch(tf.constant([0]))[0])
    objective = RankingObjective(ranker, SmoothOrdinalSearchLoss(reduction="none"))
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(training_checkpoint, "time", clock)
    checkpoint = TrainingCheckpoint(str(tmp_path), objective, keras.optimizers.Adam())
    saves = []
    monkeypatch.setattr(
        checkpoint._manager, "save", lambda: (saves.append(clock.now), setattr(clock, "now", clock.now + 3))
    )
    for now in range(0, 200, 10):
        clock.now = max(clock.now, now)
        checkpoint.save()
    assert saves == [0, 70, 140]  # each takes 3 s, the 20th part of 60


# Unfit lists and scores


def test_scores_that_are_not_finite_stop_the_training(tmp_path):
    vectors = np.full([VOCABULARY_SIZE, 8], np.nan, np.float32)
    with pytest.raises(DataError, match="q00 got nan"):
        run(tmp_path, words=(Words(VOCABULARY_SIZE, vectors), WORDS))


def test_fewer_lists_than_a_batch_still_train(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "clir.progress"):
        _, result = run(tmp_path, learnable_lists(3, seed=1), epochs=2, batch_lists=16, learning_rate=0.1)
    loss = result.history[1].figures["train/loss"]
    assert loss < result.history[0].figures["train/loss"]
    assert any(line.startswith(f"epoch 2/2, loss {loss:.5f}, eval ndcg_5") for line in caplog.messages)


@pytest.mark.parametrize(
    ("train_count", "eval_count", "replicas"),
    [(0, 1, 1), (1, 1, 2), (1, 0, 1)],
    ids=["no lists to train on", "fewer lists than replicas", "no lists to evaluate on"],
)
def test_too_few_lists_are_an_error_of_the_data(train_count, eval_count, replicas, tmp_path):
    train_lists, eval_lists = learnable_lists(train_count, seed=1), learnable_lists(eval_count, seed=2)
    with pytest.raises(DataError, match=f"{replicas} replicas.* {train_count} .* {eval_count} "):
        run(tmp_path, train_lists, eval_lists, epochs=1, replicas=replicas)


def test_evaluator_scores_each_list_as_the_ranker_does(monkeypatch):
    monkeypatch.setattr(list_evaluator, "_BATCH", 3)
    ranker = make_ranker(seed=1)
    scores = ListEvaluator(ranker, EVAL, MOST_RELEVANT).scores()
    assert [len(part) for part in scores] == EVAL.documents.row_lengths().numpy().tolist()
    for row in (0, 4, len(EVAL) - 1):
        features, _ = EVAL.batch(tf.constant([row]))
        np.testing.assert_allclose(scores[row], ranker(features)[0], atol=1e-6)
