"""TensorFlow Ranking's losses: hand values, and that a list's value is the library's own."""

from math import exp, log, log2

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.tf_ranking import losses
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT
from tests.models.losses.listwise import few, lists, loss_and_gradient, losses_and_gradients
from tests.reference import sigmoid

pytestmark = pytest.mark.tensors

LIBRARY = {
    "softmax": losses.SoftmaxLoss,
    "approx_ndcg": losses.ApproxNDCGLoss,
    "pairwise_hinge": losses.PairwiseHingeLoss,
}
every_loss = pytest.mark.parametrize("name", LIBRARY)


@every_loss
@few
@given(st.data())
def test_value_of_a_list_is_what_the_librarys_own_reduction_makes_of_it(name, data):
    _, grades, scores = data.draw(lists(name, padding=False))
    expected = LIBRARY[name]()(tf.constant(grades[:1], tf.float32), tf.constant(scores[:1]))
    assert losses_and_gradients(name, None, grades, scores)[0][0] == pytest.approx(float(expected), rel=1e-6, abs=1e-7)


def test_softmax_of_two_documents():
    loss, gradient = loss_and_gradient("softmax", None, [MOST_RELEVANT, NOT_RELEVANT], [0.25, 0.75])
    share = 1 / (1 + exp(0.75 - 0.25))
    assert loss == pytest.approx(-2 * log(share))
    np.testing.assert_allclose(gradient, [2 * share - 2, 2 * (1 - share)], rtol=1e-6)


def test_approx_ndcg_of_two_documents():
    loss, _ = loss_and_gradient("approx_ndcg", None, [MOST_RELEVANT, SOMEWHAT_RELEVANT], [0.0, 0.05])
    above = sigmoid(0.05 / 0.1)
    dcg = 3 / log2(1 + 1 + above) + 1 / log2(1 + 1 + (1 - above))
    assert loss == pytest.approx(-dcg / (3 / log2(2) + 1 / log2(3)))


def test_approx_ndcg_of_a_clear_perfect_order_is_minus_one():
    loss, _ = loss_and_gradient("approx_ndcg", None, [NOT_RELEVANT, MOST_RELEVANT, SOMEWHAT_RELEVANT], [-1.0, 1.0, 0.0])
    assert loss == pytest.approx(-1, abs=1e-4)


def test_pairwise_hinge_of_three_documents():
    grades, scores = [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT], [0.5, -0.75, 0.25]
    loss, gradient = loss_and_gradient("pairwise_hinge", None, grades, scores)
    assert loss == pytest.approx((0 + (1 - 0.25) + (1 + 1)) / 3)  # MR and SR lie more than 1 apart
    np.testing.assert_allclose(gradient, np.array([-1, -1, 2]) / 3, rtol=1e-6)


@every_loss
@pytest.mark.parametrize("grade", [NOT_RELEVANT, MOST_RELEVANT])
def test_list_of_one_document_has_gradient_zero(name, grade):
    loss, gradient = loss_and_gradient(name, None, [grade], [0.3])
    assert loss == (-1 if name == "approx_ndcg" and grade else 0)
    assert np.array_equal(gradient, [0])


@every_loss
def test_list_of_nr_documents_alone_has_gradient_zero(name):
    scores = [[-1.0, 0.5, 1.0], [0.5, 0.5, 0.5], [0.1, -0.2, 0.0]]
    losses, gradients = losses_and_gradients(name, None, [[NOT_RELEVANT] * 3] * 3, scores)
    assert not losses.any()
    assert not gradients.any()
