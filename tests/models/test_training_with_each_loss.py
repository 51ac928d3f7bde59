"""Ten steps of training, with each loss, against the same in NumPy: its gradients are differences of the formulas."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.ranker import Ranker
from models.settings import LOSSES, ModelSettings
from models.training_steps import TrainingSteps
from tests import reference
from tests.models.losses.listwise import make
from tests.models.synthetic import ranking_lists

STEPS, LEARNING_RATE, EPSILON = 10, 0.5, 0.5
QUERIES = [[0, 3], [2], [1, 1, 2]]
DOCUMENTS = [[1, 1], [4, 0], [5, 2, 3], [5], [0, 4, 4]]
PLACES = [[0, 1, 2, 3], [3, 4, 1], [2, 0]]
GRADES = [[2, 1, 0, 0], [0, 2, 1], [1, 2]]


def trained(name, ranker):
    """The losses of ten steps on all lists, as training takes them, and the tables after them."""
    lists = ranking_lists(QUERIES, DOCUMENTS, PLACES, GRADES)
    batches = tf.data.Dataset.from_tensors(tf.range(len(lists))).repeat(STEPS).map(lists.batch)
    optimizer = keras.optimizers.SGD(LEARNING_RATE)
    optimizer.build(ranker.trainable_variables)
    loss = make(name, LOSSES[name].default_theta)
    steps = TrainingSteps(ranker, loss, optimizer, tf.distribute.get_strategy(), clip_norm=1e6)
    losses, _ = steps.run(iter(batches), tf.constant(STEPS))
    return losses.numpy(), ranker.get_weights()


def reference_loss(name, query_table, document_table):
    """The mean loss of the lists."""
    queries = [reference.mean_embedding(query_table, tokens) for tokens in QUERIES]
    documents = [reference.mean_embedding(document_table, tokens) for tokens in DOCUMENTS]
    losses = []
    for query, places, grades in zip(queries, PLACES, GRADES, strict=True):
        scores = [reference.smooth_cosine(query, documents[place], EPSILON) for place in places]
        losses.append(reference.loss_of_list(name, grades, scores, LOSSES[name].default_theta))
    return np.mean(losses)


def reference_training(name, tables):
    """The same in float64."""
    losses = []
    query_table, document_table = (table.astype(np.float64) for table in tables)
    for _ in range(STEPS):
        losses.append(reference_loss(name, query_table, document_table))
        slopes = [
            reference.slopes(lambda table, other=document_table: reference_loss(name, table, other), query_table),
            reference.slopes(lambda table, other=query_table: reference_loss(name, other, table), document_table),
        ]
        query_table = query_table - LEARNING_RATE * slopes[0]
        document_table = document_table - LEARNING_RATE * slopes[1]
    return losses, [query_table, document_table]


@pytest.mark.parametrize("name", LOSSES)
def test_ten_steps_are_those_of_the_reference(name):
    ranker = Ranker(4, 6, ModelSettings(embedding_dim=3, epsilon=EPSILON, initial_scale=1.0), seed=1)
    ranker(ranking_lists(QUERIES, DOCUMENTS, PLACES, GRADES).batch(tf.constant([0]))[0])  # builds it
    before = ranker.get_weights()
    expected_losses, expected = reference_training(name, before)
    losses, tables = trained(name, ranker)
    assert losses[-1] < losses[0]
    assert losses == pytest.approx(expected_losses, rel=1e-5)
    for table, expected_table, old in zip(tables, expected, before, strict=True):
        assert np.abs(table - old).max() > 0.01
        np.testing.assert_allclose(table, expected_table, rtol=1e-4, atol=1e-5)
