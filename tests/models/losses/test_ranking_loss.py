"""Weights of lists and of documents, for every loss."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorflow import keras

from models.losses.declarations import LOSSES
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests import reference
from tests.models.losses.listwise import lists, make

every_loss = pytest.mark.parametrize("name", LOSSES)
weights = st.floats(0, 4, width=32)
few = settings(max_examples=8)

GRADES = [[MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT], [SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]]
SCORES = [[0.5, 0.25, 0.125], [0.75, -0.5, 1.0]]
OF_LISTS = [0.5, 3.0]
OF_DOCUMENTS = [[1.0, 2.0, 0.5], [0.25, 4.0, 8.0]]


def expected(name, of_documents=(None, None)):
    """The loss of each of the two lists, by the reference."""
    rows = zip(GRADES, SCORES, of_documents, strict=True)
    return [reference.loss_of_list(name, *row[:2], LOSSES[name].default_theta, weights=row[2]) for row in rows]


def weighted(name, theta, grades, scores, weights):
    """The loss of one list with weights of its documents, and its gradient in the scores."""
    predicted = tf.constant([scores], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        (value,) = make(name, theta)(np.array([grades], np.float64), predicted, np.array([weights]))
    return float(value), tape.gradient(value, predicted)[0].numpy()


@st.composite
def weighted_lists(draw, name, count=1):
    """A list as of `lists`, and so many weights for each of its documents."""
    theta, grades, scores = draw(lists(name))
    some = st.lists(weights, min_size=len(grades), max_size=len(grades))
    return theta, grades, scores, *(draw(some) for _ in range(count))


@every_loss
@few
@given(st.data())
def test_weights_of_documents_agree_with_the_reference(name, data):
    theta, grades, scores, some = data.draw(weighted_lists(name))
    found, _ = weighted(name, theta, grades, scores, some)
    expected = reference.loss_of_list(name, grades, scores, theta, weights=some)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


@every_loss
@few
@given(st.data(), weights, weights)
def test_loss_is_linear_in_the_weights_of_documents(name, data, factor, other_factor):
    theta, grades, scores, some, others = data.draw(weighted_lists(name, count=2))
    sums = factor * np.array(some) + other_factor * np.array(others)
    found = weighted(name, theta, grades, scores, sums)
    parts = [weighted(name, theta, grades, scores, one) for one in (some, others)]
    for whole, part, other in zip(found, *parts, strict=True):
        np.testing.assert_allclose(whole, factor * part + other_factor * other, rtol=1e-5, atol=1e-4)


@every_loss
@few
@given(st.data(), st.sampled_from([0.0, 7.0, float("nan"), float("inf")]))
def test_weight_of_padding_does_nothing(name, data, weight):
    theta, grades, scores, some = data.draw(weighted_lists(name))
    others = [weight if grade < 0 else one for grade, one in zip(grades, some, strict=True)]
    for found, same in zip(*(weighted(name, theta, grades, scores, one) for one in (some, others)), strict=True):
        np.testing.assert_array_equal(found, same)


@every_loss
def test_weight_of_a_list_s_only_place_does_nothing_where_it_is_padding(name):
    assert make(name)([[-1.0], [0.0]], [[0.5], [-1.0]], [[float("nan")], [1.0]])[0] == 0


@every_loss
@few
@given(st.data(), weights)
def test_the_same_weight_for_all_documents_is_the_weight_of_the_list(name, data, weight):
    theta, grades, scores = data.draw(lists(name))
    found, _ = weighted(name, theta, grades, scores, [weight] * len(grades))
    assert found == pytest.approx(weight * weighted(name, theta, grades, scores, [1.0] * len(grades))[0], abs=1e-5)


@every_loss
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.training)])
def test_weights_of_one_give_what_no_weights_give_bit_by_bit(name, compiled):
    grades, scores, loss = np.array(GRADES, np.float32), tf.Variable(SCORES), make(name)

    def value_and_gradient(weight):
        with tf.GradientTape() as tape:
            value = loss(grades, scores, weight)
        return value, tape.gradient(value, scores)

    compute = tf.function(value_and_gradient) if compiled else value_and_gradient
    for weight in (tf.ones([]), tf.ones([2]), tf.ones([2, 1]), tf.ones([2, 3])):
        for found, same in zip(compute(weight), compute(None), strict=True):
            np.testing.assert_array_equal(found, same)


@every_loss
@pytest.mark.parametrize("weight", [OF_LISTS, [[one] for one in OF_LISTS]])
def test_weights_of_lists_multiply_the_loss_of_each(name, weight):
    values = make(name)(GRADES, tf.constant(SCORES), weight)
    np.testing.assert_allclose(values, np.multiply(OF_LISTS, expected(name)), rtol=1e-5)


@every_loss
@pytest.mark.parametrize(("reduction", "reduce"), [("sum", np.sum), ("sum_over_batch_size", np.mean)])
def test_weighted_losses_are_summed_and_averaged_over_lists_as_keras_does(name, reduction, reduce):
    loss = make(name, reduction=reduction)
    of_lists, of_documents = loss(GRADES, SCORES, OF_LISTS), loss(GRADES, SCORES, OF_DOCUMENTS)
    assert float(of_lists) == pytest.approx(reduce(np.multiply(OF_LISTS, expected(name))), rel=1e-5)
    assert float(of_documents) == pytest.approx(reduce(expected(name, OF_DOCUMENTS)), rel=1e-5)


def test_a_document_s_weight_multiplies_its_loss_before_the_mean_over_documents():
    (value,) = make("sosl", (0.2, 0.7))([[2.0, 0.0, -1.0]], [[0.5, 0.4, 0.0]], [[3.0, 0.5, 9.0]])
    assert float(value) == pytest.approx((3 * (0.7 - 0.5) ** 2 + 0.5 * (0.4 - 0.2) ** 2) / 2)


def test_a_document_s_weight_in_a_hinge_is_that_of_the_more_relevant_one():
    (value,) = make("pairwise_hinge")([[2.0, 0.0]], [[0.5, 0.25]], [[3.0, 0.5]])
    assert float(value) == pytest.approx(3 * (1 - (0.5 - 0.25)) / 2)


@every_loss
@pytest.mark.parametrize("shape", [(2, 2), (1, 3), (2, 3, 1)])
def test_weights_of_another_shape_are_refused(name, shape):
    with pytest.raises(ValueError, match=r"sample_weight must be \[batch\] or .* for scores \(2, 3\)\."):
        make(name)(GRADES, SCORES, np.ones(shape))


@every_loss
def test_the_length_of_lists_may_be_unknown_when_the_graph_is_made(name):
    shape = [tf.TensorSpec([None, None])] * 3
    compute = tf.function(lambda *inputs: make(name)(*inputs), input_signature=shape)
    values = compute(tf.constant(GRADES, tf.float32), tf.constant(SCORES), tf.constant(OF_DOCUMENTS))
    np.testing.assert_allclose(values, expected(name, OF_DOCUMENTS), rtol=1e-5)
    values = compute(tf.constant(GRADES, tf.float32), tf.constant(SCORES), tf.constant(OF_LISTS)[:, tf.newaxis])
    np.testing.assert_allclose(values, np.multiply(OF_LISTS, expected(name)), rtol=1e-5)


@pytest.mark.training
@every_loss
@pytest.mark.parametrize("weight", [OF_LISTS, OF_DOCUMENTS])
def test_keras_trains_with_weights_of_either_shape(name, weight):
    model = keras.Sequential([keras.layers.Dense(3, use_bias=False, kernel_initializer="identity")])
    model.compile(keras.optimizers.SGD(0.125), make(name, reduction="sum_over_batch_size"))
    history = model.fit(np.array(SCORES), np.array(GRADES, np.float32), sample_weight=np.array(weight), verbose=0)

    def mean(kernel):
        of_documents = np.broadcast_to(np.reshape(weight, [2, -1]), [2, 3])
        rows = zip(GRADES, SCORES @ kernel, of_documents, strict=True)
        theta = LOSSES[name].default_theta
        return np.mean([reference.loss_of_list(name, *row[:2], theta, weights=row[2]) for row in rows])

    assert history.history["loss"] == [pytest.approx(mean(np.eye(3)), rel=1e-5)]
    moved = np.eye(3) - 0.125 * reference.slopes(mean, np.eye(3))
    np.testing.assert_allclose(model.get_weights()[0], moved, atol=1e-5)
