"""The laws of every loss of a configuration: its formula, its derivative, and no effect of padding or order."""

from itertools import product

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.losses.declarations import LOSSES
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests import reference
from tests.models.losses.listwise import few, lists, loss_and_gradient, losses_and_gradients, make, scales

pytestmark = pytest.mark.tensors

every_loss = pytest.mark.parametrize("name", LOSSES)
THRESHOLDED = [name for name in LOSSES if LOSSES[name].default_theta]

GRADES = [[MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT], [SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]]
SCORES = [[0.5, 0.3, 0.1], [0.1, 0.9, 1.0]]


def references(name, theta, grades, scores, **others):
    """The losses of lists, by the reference."""
    rows = zip(grades, np.asarray(scores, np.float64), strict=True)
    return np.array([reference.loss_of_list(name, *row, theta, **others) for row in rows])


def has_a_kink(name, grades, scores):
    """Whether there is no derivative: a difference of scores lies where the hinge breaks off, or the worst are two."""
    places = list(zip(grades, scores, strict=True))
    differences = [score - other for (grade, score), (lower, other) in product(places, places) if grade > lower]
    margin = {"pairwise_hinge": 1, "worst_hinge": 0.2}.get(name)
    is_tied = name == "worst_hinge" and len(set(scores)) < len(scores)
    return margin is not None and (is_tied or any(abs(margin - difference) < 1e-4 for difference in differences))


@every_loss
@few
@given(st.data())
def test_loss_and_gradient_are_those_of_the_reference(name, data):
    theta, grades, scores = data.draw(lists(name))
    losses, gradients = losses_and_gradients(name, theta, grades, scores)
    np.testing.assert_allclose(losses, references(name, theta, grades, scores), rtol=1e-5, atol=1e-6)
    for row, gradient in enumerate(gradients):
        if not has_a_kink(name, grades[row], scores[row]):
            expected = reference.slopes(
                lambda at, row=row: reference.loss_of_list(name, grades[row], at, theta), scores[row]
            )
            np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-6 + 1e-5 * np.abs(expected).max())


@every_loss
@few
@given(st.data(), st.integers(0, 2))
def test_neither_the_order_of_the_documents_nor_padding_changes_anything(name, data, padded):
    theta, grades, scores = data.draw(lists(name))
    loss, gradient = losses_and_gradients(name, theta, grades, scores)
    order = data.draw(st.permutations(range(grades.shape[1] + padded)))
    wide = [
        np.pad(table, [(0, 0), (0, padded)], constant_values=at)
        for table, at in ((grades, PADDING_LABEL), (scores, 0.5))
    ]
    found = losses_and_gradients(name, theta, *(table[:, order] for table in wide))
    assert found[0] == pytest.approx(loss, rel=1e-6, abs=1e-7)
    expected = np.pad(gradient, [(0, 0), (0, padded)])[:, order]
    assert found[1] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@every_loss
def test_list_of_padding_alone_has_loss_zero_and_gradient_zero(name):
    loss, gradient = loss_and_gradient(name, None, [PADDING_LABEL] * 2, [0.9, -0.9])
    assert loss == 0
    assert np.array_equal(gradient, [0, 0])


@every_loss
@pytest.mark.parametrize(("reduction", "reduce"), [("none", list), ("sum", np.sum), ("sum_over_batch_size", np.mean)])
def test_losses_of_lists_are_summed_and_averaged_as_keras_does(name, reduction, reduce):
    found = make(name, reduction=reduction)(np.array(GRADES, np.float32), tf.constant(SCORES))
    np.testing.assert_allclose(found, reduce(references(name, LOSSES[name].default_theta, GRADES, SCORES)), rtol=1e-5)


@pytest.mark.stages
@every_loss
def test_the_length_of_lists_may_be_unknown_when_the_graph_is_made(name):
    compute = tf.function(make(name).__call__, input_signature=[tf.TensorSpec([None, None])] * 2)
    found = compute(tf.constant(GRADES, tf.float32), tf.constant(SCORES))
    np.testing.assert_allclose(found, references(name, LOSSES[name].default_theta, GRADES, SCORES), rtol=1e-5)


@every_loss
def test_loss_and_gradient_are_finite_at_the_ends_of_the_cosine_and_beyond(name):
    grades = [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]
    scores = [[score, -score, score, -score] for score in (-1.0, 1.0, -1e4, 1e4)]
    found = losses_and_gradients(name, None, [grades] * len(scores), scores, tf.float32)
    assert all(np.isfinite(part).all() for part in found)


@pytest.mark.parametrize("name", THRESHOLDED)
@few
@given(st.data())
def test_thresholds_and_scores_of_another_scale_agree_with_the_reference(name, data):
    (theta, grades, scores), scale = data.draw(lists(name)), data.draw(scales)
    theta, scores = scale.of(theta), scale.at(scores.astype(np.float64))
    expected = references(name, theta, grades, scores, ends=scale.ends)
    found, _ = losses_and_gradients(name, theta, grades, scores, ends=scale.ends)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


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
