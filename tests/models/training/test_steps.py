"""Steps of training with each encoder, against NumPy: its gradients are differences of formulas."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.training.steps import TrainingSteps
from tests import reference
from tests.models.eagerly import EAGERLY
from tests.models.losses.listwise import LOSSES, make
from tests.models.synthetic import ranking_lists

pytestmark = [pytest.mark.tensors, *EAGERLY]

STEPS, LEARNING_RATE, EPSILON = 6, 0.5, 0.5
QUERIES = [[0, 3], [2], [1, 1, 2]]
DOCUMENTS = [[1, 1], [4, 0], [5, 2, 3], [5], [0, 4, 4]]
LISTED = [[0, 1, 2, 3], [3, 4, 1], [2, 0]]
SMALL = {"mean": {}, "cnn": {"filters": 2}, "lstm": {"units": 1}}
GRADES = [[2, 1, 0, 0], [0, 2, 1], [1, 2]]


def trained(name, ranker):
    """The losses of these steps on all lists, as training takes them, and the weights after them."""
    lists = ranking_lists(QUERIES, DOCUMENTS, LISTED, GRADES)
    batches = tf.data.Dataset.from_tensors(tf.range(len(lists))).repeat(STEPS).map(lists.batch)
    loss = make(name, LOSSES[name].thresholds)
    steps = TrainingSteps(RankingObjective(ranker, loss), keras.optimizers.SGD(LEARNING_RATE), clip_norm=1e6)
    steps.build()
    return steps.run(iter(batches), STEPS)["loss"], ranker.get_weights()


def reference_loss(name, encoder, weights):
    """The mean loss of the lists; the first half of the weights are the query encoder's."""
    encode, half = reference.ENCODERS[encoder], len(weights) // 2
    queries = [encode(*weights[:half], tokens) for tokens in QUERIES]
    documents = [encode(*weights[half:], tokens) for tokens in DOCUMENTS]
    losses = []
    for query, listed, grades in zip(queries, LISTED, GRADES, strict=True):
        scores = [reference.smooth_cosine(query, documents[document], EPSILON) for document in listed]
        losses.append(reference.loss_of_list(name, grades, scores, LOSSES[name].thresholds))
    return np.mean(losses)


def reference_training(name, encoder, weights):
    """The same in float64."""
    losses = []
    weights = [array.astype(np.float64) for array in weights]
    for _ in range(STEPS):
        losses.append(reference_loss(name, encoder, weights))
        slopes = [
            reference.slopes(
                lambda array, number=number, old=weights: reference_loss(
                    name, encoder, [*old[:number], array, *old[number + 1 :]]
                ),
                weights[number],
            )
            for number in range(len(weights))
        ]
        weights = [array - LEARNING_RATE * slope for array, slope in zip(weights, slopes, strict=True)]
    return losses, weights


# The gradient of each loss is compared with that of its reference in `tests/models/losses/test_every_loss.py`.
@pytest.mark.parametrize(("name", "encoder"), [("softmax", "mean"), *(("sosl", encoder) for encoder in SMALL)])
def test_steps_are_those_of_the_reference(name, encoder):
    small = {"kind": encoder, **SMALL[encoder], "dropout": 0, "initial_scale": 1.0}
    settings = TwoTowersSettings(embedding_dim=3, epsilon=EPSILON, encoder=small)
    ranker = Ranker({"score": TwoTowers(Words(4), Words(6), settings, seed=1)})
    ranker(ranking_lists(QUERIES, DOCUMENTS, LISTED, GRADES).batch(tf.constant([0]))[0])  # builds it
    before = ranker.get_weights()
    expected_losses, expected = reference_training(name, encoder, before)
    losses, weights = trained(name, ranker)
    assert losses[-1] < losses[0]
    assert losses == pytest.approx(expected_losses, rel=1e-5)
    for array, expected_array, old in zip(weights, expected, before, strict=True):
        assert np.abs(array - old).max() > 5e-5
        np.testing.assert_allclose(array - old, expected_array - old, rtol=1e-3, atol=2e-6)
