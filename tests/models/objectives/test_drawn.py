"""The objective of drawn documents: its lists and its draws."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.layers.settings import MeanSettings
from models.losses.settings import SoslSettings, WorstHingeSettings
from models.objectives.drawn import drawn_lists
from models.objectives.make_objective import make_objective
from models.objectives.objective import make_loss
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.training.settings import TrainingSettings
from schemas.relevance import MOST_RELEVANT
from tests.models.eagerly import EAGERLY
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists, ranking_lists
from tests.models.training_job import training_job

pytestmark = [pytest.mark.tensors, *EAGERLY]

MODEL = TwoTowersSettings(embedding_dim=4, encoder=MeanSettings(initial_scale=1.0))
LOSS = WorstHingeSettings()
TRAINING = TrainingSettings(objective={"kind": "drawn", "documents": 2}, epochs=2, batch_lists=4)


def objective_of(seed=1, model=MODEL):
    """As a configuration makes it."""
    ranker = Ranker({"towers": TwoTowers(Words(VOCABULARY_SIZE), Words(VOCABULARY_SIZE), model, seed=1)})
    training = TRAINING.model_copy(update={"seed": seed})
    return make_objective(ranker, training_job(towers=model, loss=LOSS, training=training))


@st.composite
def batches(draw):
    """(documents of each list, their grades, number of drawn documents, seed of the draws)."""
    number = draw(st.integers(1, 8))
    lists = [row[: draw(st.integers(0, number))] for row in draw(st.lists(st.permutations(range(number)), min_size=1))]
    grades = [draw(st.lists(st.integers(0, MOST_RELEVANT), min_size=len(row), max_size=len(row))) for row in lists]
    return lists, grades, draw(st.integers(1, 5)), draw(st.integers(0, 9))


@settings(max_examples=20)
@given(batch=batches())
def test_a_drawn_list_has_the_mr_document_first_and_distinct_ones_of_lower_grades(batch):
    lists, grades, limit, seed = batch
    number = 1 + max((document for documents in lists for document in documents), default=0)
    all_lists = ranking_lists([[row] for row in range(len(lists))], [[row] for row in range(number)], lists, grades)
    features, labels = all_lists.batch(tf.range(len(lists)))
    features["fixed_score_x"] = tf.cast(features["document_index"], tf.float32) + 0.5
    draws = tf.random.stateless_uniform(tf.shape(labels), [seed, 0])
    drawn_features, drawn_labels = drawn_lists(features, labels, draws, limit)

    index = drawn_features["document_index"].numpy()
    assert index.shape == drawn_labels.shape and index.shape[1] <= limit + 1
    np.testing.assert_array_equal(index >= 0, drawn_labels.numpy() >= 0)
    np.testing.assert_array_equal(drawn_features["query_tokens"].to_list(), features["query_tokens"].to_list())
    tokens = [document for (document,) in drawn_features["doc_tokens"].to_list()]  # a document's token is its number
    assert sorted(tokens) == sorted({tokens[row] for row in index[index >= 0]})  # all that are encoded count
    before = [document for (document,) in features["doc_tokens"].to_list()]
    for row, (documents, list_grades) in enumerate(zip(lists, grades, strict=True)):
        is_there = index[row] >= 0
        drawn = [tokens[row] for row in index[row][is_there]]
        assert is_there.tolist() == sorted(is_there, reverse=True)
        assert len(drawn) == len(set(drawn))
        top = max(list_grades, default=0)
        lower = [document for document, grade in zip(documents, list_grades, strict=True) if grade < top]
        assert drawn[1:] == [document for document in drawn if document in lower]
        assert drawn[:1] == (documents[list_grades.index(top) :][:1] if documents else [])
        assert len(drawn[1:]) == min(limit, len(lower))
        assert drawn_labels[row].numpy()[is_there].tolist() == [list_grades[documents.index(row)] for row in drawn]
        column = drawn_features["fixed_score_x"][row].numpy()[is_there]
        assert column.tolist() == [before.index(document) + 0.5 for document in drawn]


def test_each_document_of_a_lower_grade_is_drawn_as_often():
    lists = ranking_lists([[0]], [[row] for row in range(6)], [list(range(6))], [[0, 1, 2, 0, 0, 1]])
    features, labels = lists.batch(tf.zeros([4000], tf.int32))
    draws = tf.random.stateless_uniform(tf.shape(labels), [1, 2])
    drawn_features, _ = drawn_lists(features, labels, draws, 2)
    drawn = np.array(drawn_features["doc_tokens"].to_list())[drawn_features["document_index"].numpy()][:, :, 0]
    assert (drawn[:, 0] == 2).all()
    shares = np.bincount(drawn[:, 1:].ravel(), minlength=6) / len(drawn)
    np.testing.assert_allclose(shares, [0.4, 0.4, 0, 0.4, 0.4, 0.4], atol=4 * np.sqrt(0.4 * 0.6 / len(drawn)))


def test_the_loss_is_that_of_the_drawn_lists_and_an_adversary_sees_the_same():
    objective = objective_of()
    features, labels = learnable_lists(6, seed=1).batch(tf.range(6))
    objective.build(features)
    list_losses = objective(features, labels)
    assert list_losses.scored.labels.shape == (6, 3)
    assert (list_losses.scored.labels.numpy()[:, 0] == MOST_RELEVANT).all()
    joint = list_losses.scored.joint(tf.constant([[0, 1, 2]] * 6)).numpy()
    scores = joint[:, :, 8:].sum(axis=-1)  # the vectors' inner products
    expected = make_loss(LOSS, 2)(list_losses.scored.labels, tf.constant(scores))
    np.testing.assert_allclose(list_losses.losses, expected, rtol=1e-5, atol=1e-6)
    assert not list_losses.figures


def test_draws_follow_the_seed_and_are_new_in_each_step():
    features, labels = learnable_lists(6, seed=1).batch(tf.range(6))

    def losses(seed):
        objective = objective_of(seed)
        objective.build(features)
        return [objective(features, labels).losses.numpy().tolist() for _ in range(3)]

    assert losses(1) == losses(1) != losses(2)
    first, second, third = losses(1)
    assert first != second != third


@pytest.mark.parametrize("terms", [{"in_batch": True}, {"softmax_weight": 0.1}])
def test_terms_over_all_documents_of_a_step_are_refused_beside_it(terms):
    with pytest.raises(ValueError, match="got drawn"):
        training_job(towers=MODEL, loss=SoslSettings(**terms), training=TRAINING)
