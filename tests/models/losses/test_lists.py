"""Losses of whole lists: hand values, TensorFlow Ranking's own values, and the lists without a gradient."""

from math import exp, log, log2

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.losses.worst_hinge import WorstHingeLoss
from models.tf_ranking import losses
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests.models.losses.listwise import few, lists, loss_and_gradient, losses_and_gradients
from tests.reference import sigmoid

pytestmark = pytest.mark.tensors

LIBRARY = {
    "softmax": losses.SoftmaxLoss,
    "approx_ndcg": losses.ApproxNDCGLoss,
    "pairwise_hinge": losses.PairwiseHingeLoss,
}
every_loss = pytest.mark.parametrize("name", [*LIBRARY, "worst_hinge", "log_likelihood"])
every_loss_of_the_top_grade = pytest.mark.parametrize("name", ["worst_hinge", "log_likelihood"])


@pytest.mark.parametrize("name", LIBRARY)
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


def test_pairwise_hinge_of_three_documents():
    grades, scores = [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT], [0.5, -0.75, 0.25]
    loss, gradient = loss_and_gradient("pairwise_hinge", None, grades, scores)
    assert loss == pytest.approx((0 + (1 - 0.25) + (1 + 1)) / 3)  # MR and SR lie more than 1 apart
    np.testing.assert_allclose(gradient, np.array([-1, -1, 2]) / 3, rtol=1e-6)


def test_worst_hinge_is_against_the_highest_score_of_a_lower_grade():
    grades = [NOT_RELEVANT, MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]
    loss, gradient = loss_and_gradient("worst_hinge", None, grades, [0.1, 0.5, 0.25, 0.4, 0.9], margin=0.3)
    assert loss == pytest.approx(0.3 - 0.5 + 0.4)
    np.testing.assert_array_equal(gradient, [0, -1, 0, 1, 0])


def test_worst_hinge_is_zero_beyond_its_margin_of_a_fifth():
    grades = [MOST_RELEVANT, NOT_RELEVANT]
    assert loss_and_gradient("worst_hinge", None, grades, [0.5, 0.25])[0] == 0
    assert loss_and_gradient("worst_hinge", None, grades, [0.5, 0.35])[0] == pytest.approx(0.2 - 0.5 + 0.35)


def test_log_likelihood_of_three_documents():
    grades, scores = [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT], [0.5, 0.25, -0.5]
    loss, gradient = loss_and_gradient("log_likelihood", None, grades, scores)
    shares = np.exp(scores) / np.exp(scores).sum()
    assert loss == pytest.approx(-log(shares[0]))
    np.testing.assert_allclose(gradient, shares - [1, 0, 0], rtol=1e-6)


@every_loss_of_the_top_grade
def test_the_loss_of_several_documents_of_the_highest_grade_is_their_mean(name):
    scores = [0.3, -0.2, 0.4]
    loss, _ = loss_and_gradient(name, None, [1, 1, 0], scores)
    above = {"worst_hinge": 0.2 + 0.4, "log_likelihood": log(sum(map(exp, scores)))}[name]
    assert loss == pytest.approx(np.mean([above - 0.3, above + 0.2]))


@every_loss
@pytest.mark.parametrize("grade", [NOT_RELEVANT, SOMEWHAT_RELEVANT, MOST_RELEVANT])
def test_list_of_one_document_has_gradient_zero(name, grade):
    loss, gradient = loss_and_gradient(name, None, [grade, PADDING_LABEL], [0.3, 0.75])
    assert loss == (-1 if name == "approx_ndcg" and grade else 0)
    assert not gradient.any()


@every_loss
def test_list_of_nr_documents_alone_has_gradient_zero(name):
    scores = [[-1.0, 0.5, 1.0], [0.5, 0.5, 0.5], [0.1, -0.2, 0.0]]
    values, gradients = losses_and_gradients(name, None, [[NOT_RELEVANT] * 3] * 3, scores)
    assert not values.any()
    assert not gradients.any()


@every_loss_of_the_top_grade
@pytest.mark.parametrize("grade", [SOMEWHAT_RELEVANT, MOST_RELEVANT])
def test_a_list_of_one_grade_has_no_loss_and_no_gradient(name, grade):
    loss, gradient = loss_and_gradient(name, None, [grade, grade, PADDING_LABEL], [0.5, 0.25, 0.75])
    assert (loss, gradient.tolist()) == (0, [0, 0, 0])


@pytest.mark.parametrize("margin", [-0.1, float("nan")])
def test_a_margin_below_zero_is_refused(margin):
    with pytest.raises(ValueError, match=f"margin .*; got {margin}"):
        WorstHingeLoss(margin)
