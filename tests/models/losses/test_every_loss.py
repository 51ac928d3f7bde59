"""What every loss of a configuration does: its formula, its derivative, and nothing with padding or order."""

from itertools import product

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, given
from hypothesis import strategies as st

from models.losses.declarations import LOSSES
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests import reference
from tests.models.losses.listwise import lists, loss_and_gradient, make, scales, scores

every_loss = pytest.mark.parametrize("name", LOSSES)
THRESHOLDED = [name for name in LOSSES if LOSSES[name].default_theta]

GRADES = [[MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT], [SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]]
SCORES = [[0.5, 0.3, 0.1], [0.1, 0.9, 1.0]]


def of_two_lists(name):
    """The losses of `GRADES` and `SCORES`, by the reference."""
    rows = zip(GRADES, SCORES, strict=True)
    return [reference.loss_of_list(name, *row, LOSSES[name].default_theta) for row in rows]


def has_a_kink(name, grades, scores):
    """Whether a difference of scores lies where the hinge breaks off: there is no derivative."""
    places = list(zip(grades, scores, strict=True))
    differences = [score - other for (grade, score), (lower, other) in product(places, places) if grade > lower]
    return name == "pairwise_hinge" and any(abs(1 - difference) < 1e-4 for difference in differences)


@every_loss
@given(st.data())
def test_loss_agrees_with_the_reference(name, data):
    theta, grades, scores = data.draw(lists(name))
    expected = reference.loss_of_list(name, grades, scores, theta)
    assert loss_and_gradient(name, theta, grades, scores)[0] == pytest.approx(expected, rel=1e-5, abs=1e-6)


@every_loss
def test_thresholds_are_told_where_a_loss_has_some(name):
    theta = LOSSES[name].default_theta
    assert make(name, theta).current_theta() == pytest.approx(theta or ())


@every_loss
@given(st.data())
def test_gradient_is_the_derivative_of_the_reference(name, data):
    theta, grades, scores = data.draw(lists(name))
    assume(not has_a_kink(name, grades, scores))
    expected = reference.slopes(lambda at: reference.loss_of_list(name, grades, at, theta), scores)
    gradient = loss_and_gradient(name, theta, grades, scores)[1]
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-6 + 1e-5 * np.abs(expected).max())


@every_loss
@given(st.data(), st.randoms())
def test_order_of_the_documents_does_not_change_the_loss(name, data, random):
    theta, grades, scores = data.draw(lists(name))
    order = random.sample(range(len(grades)), len(grades))
    shuffled = loss_and_gradient(name, theta, [grades[i] for i in order], [scores[i] for i in order])[0]
    assert shuffled == pytest.approx(loss_and_gradient(name, theta, grades, scores)[0], rel=1e-6, abs=1e-7)


@every_loss
@given(st.data(), st.lists(scores, max_size=3))
def test_padded_documents_change_neither_the_loss_nor_the_gradient(name, data, padded):
    theta, grades, scores = data.draw(lists(name))
    loss, gradient = loss_and_gradient(name, theta, grades, scores)
    with_padding = loss_and_gradient(name, theta, grades + [PADDING_LABEL] * len(padded), scores + padded)
    assert with_padding[0] == pytest.approx(loss, rel=1e-6, abs=1e-7)
    expected = np.append(gradient, np.zeros(len(padded)))
    assert with_padding[1] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@every_loss
def test_list_of_padding_alone_has_loss_zero_and_gradient_zero(name):
    loss, gradient = loss_and_gradient(name, None, [PADDING_LABEL] * 2, [0.9, -0.9])
    assert loss == 0
    assert np.array_equal(gradient, [0, 0])


@every_loss
@pytest.mark.parametrize(("reduction", "reduce"), [("none", list), ("sum", np.sum), ("sum_over_batch_size", np.mean)])
def test_losses_of_lists_are_summed_and_averaged_as_keras_does(name, reduction, reduce):
    found = make(name, reduction=reduction)(np.array(GRADES, np.float32), tf.constant(SCORES))
    np.testing.assert_allclose(found, reduce(of_two_lists(name)), rtol=1e-5)


@every_loss
def test_the_length_of_lists_may_be_unknown_when_the_graph_is_made(name):
    compute = tf.function(make(name).__call__, input_signature=[tf.TensorSpec([None, None])] * 2)
    found = compute(tf.constant(GRADES, tf.float32), tf.constant(SCORES))
    np.testing.assert_allclose(found, of_two_lists(name), rtol=1e-5)


@every_loss
@pytest.mark.parametrize("score", [-1.0, 1.0, -1e4, 1e4])
def test_loss_and_gradient_are_finite_at_the_ends_of_the_cosine_and_beyond(name, score):
    grades = [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]
    loss, gradient = loss_and_gradient(name, None, grades, [score, -score, score, -score], tf.float32)
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", THRESHOLDED)
@given(st.data())
def test_thresholds_and_scores_of_another_scale_agree_with_the_reference(name, data):
    (theta, grades, scores), scale = data.draw(lists(name)), data.draw(scales)
    theta, scores = scale.of(theta), scale.of(scores)
    expected = reference.loss_of_list(name, grades, scores, theta, scale.ends)
    found, _ = loss_and_gradient(name, theta, grades, list(scores), ends=scale.ends)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", THRESHOLDED)
@pytest.mark.parametrize(
    "theta", [(), (0.7, 0.2), (0.2, 0.2), (-1.0, 0.2), (0.2, 1.0), (1.5,), (float("nan"),), (0.2, float("nan"))]
)
def test_theta_that_does_not_increase_within_minus_one_and_one_is_refused(name, theta):
    with pytest.raises(ValueError, match=r"theta must increase strictly within \(-1, 1\); got \["):
        make(name, theta)


@pytest.mark.parametrize("name", THRESHOLDED)
def test_theta_must_lie_within_other_ends(name):
    theta = (1, 2, 3)
    assert make(name, theta, ends=(0, 4)).theta == theta
    for ends in ((1, 4), (0, 3)):
        with pytest.raises(ValueError, match=rf"theta must increase strictly within \({ends[0]}, {ends[1]}\); got \["):
            make(name, theta, ends=ends)


@pytest.mark.parametrize("name", THRESHOLDED)
@pytest.mark.parametrize("ends", [(1, -1), (0, 0), (-float("inf"), 1), (0, float("inf")), (float("nan"), 1)])
def test_ends_that_are_no_interval_are_refused(name, ends):
    with pytest.raises(ValueError, match=r"ends must be two finite numbers, the lower one first; got \["):
        make(name, ends=ends)
