"""The laws of every loss of a configuration: its formula, its derivative, and no effect of padding or order."""

from itertools import product

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests import reference
from tests.models.losses.listwise import LOSSES, few, lists, losses_and_gradients, make, scales

pytestmark = pytest.mark.tensors

every_loss = pytest.mark.parametrize("name", LOSSES)

GRADES = [[MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT], [SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]]
SCORES = [[0.5, 0.3, 0.1], [0.1, 0.9, 1.0]]


def references(name, theta, grades, scores, **arguments):
    """The losses of lists, by the reference."""
    rows = zip(grades, np.asarray(scores, np.float64), strict=True)
    return np.array([reference.loss_of_list(name, *row, theta, **arguments) for row in rows])


def has_a_kink(name, grades, scores):
    """Whether there is no derivative: a difference of scores lies where the hinge breaks off, or the worst are two."""
    documents = list(zip(grades, scores, strict=True))
    differences = [high - low for (grade, high), (lower, low) in product(documents, documents) if grade > lower]
    margin = {"pairwise_hinge": 1, "worst_hinge": 0.2}.get(name)
    is_tied = name == "worst_hinge" and np.diff(np.sort(scores)).min(initial=1) < 1e-4
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
                lambda changed, row=row: reference.loss_of_list(name, grades[row], changed, theta), scores[row]
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
        np.pad(table, [(0, 0), (0, padded)], constant_values=value)
        for table, value in ((grades, PADDING_LABEL), (scores, 0.5))
    ]
    reordered = losses_and_gradients(name, theta, *(table[:, order] for table in wide))
    assert reordered[0] == pytest.approx(loss, rel=1e-6, abs=1e-7)
    expected = np.pad(gradient, [(0, 0), (0, padded)])[:, order]
    assert reordered[1] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@every_loss
def test_losses_of_lists_are_summed_and_averaged_as_keras_does(name):
    expected = references(name, LOSSES[name].thresholds, GRADES, SCORES)
    for reduction, reduce in (("none", list), ("sum", np.sum), ("sum_over_batch_size", np.mean)):
        value = make(name, reduction=reduction)(np.array(GRADES, np.float32), tf.constant(SCORES))
        np.testing.assert_allclose(value, reduce(expected), rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in LOSSES if LOSSES[name].thresholds])
@few
@given(st.data())
def test_thresholds_and_scores_of_another_scale_agree_with_the_reference(name, data):
    (theta, grades, scores), scale = data.draw(lists(name)), data.draw(scales)
    theta, scores = scale.of(theta), scale.at(scores.astype(np.float64))
    expected = references(name, theta, grades, scores, ends=scale.ends)
    losses, _ = losses_and_gradients(name, theta, grades, scores, ends=scale.ends)
    np.testing.assert_allclose(losses, expected, rtol=1e-5, atol=1e-6)
