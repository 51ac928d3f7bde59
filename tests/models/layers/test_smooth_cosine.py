"""Smooth cosine (eq. 1): its values, and the laws of its gradient."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.layers.smooth_cosine import SmoothCosine
from tests import reference

pytestmark = pytest.mark.tensors

DIM = 3
directions = arrays(np.int64, DIM, elements=st.integers(-9, 9))
vectors = st.builds(  # of every norm from 1e-30 to 1e31, and zero
    lambda direction, exponent: (direction * 10.0**exponent).astype(np.float32), directions, st.integers(-30, 30)
)
epsilons = st.one_of(st.just(0.0), st.floats(1e-3, 10))


def score(query, document, epsilon):
    return float(SmoothCosine(epsilon)(tf.constant([query]), tf.constant([[document]]))[0, 0])


def gradients(query, document, epsilon):
    """Gradients of the score in the query and in the document."""
    layer, arguments = SmoothCosine(epsilon), (tf.constant([query]), tf.constant([[document]]))
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        value = layer(*arguments)
    by_query, by_document = tape.gradient(value, arguments)
    return by_query[0].numpy().astype(np.float64), by_document[0, 0].numpy().astype(np.float64)


def test_score_of_a_vector_with_itself_is_its_smoothed_norm_squared():
    assert score([3.0, 4.0], [3.0, 4.0], epsilon=1.0) == pytest.approx(25 / (6 * 6))


def test_every_document_of_every_list_is_scored_against_its_own_query():
    random = np.random.default_rng(1)
    query, documents = random.normal(size=(2, DIM)), random.normal(size=(2, 4, DIM))
    expected = [[reference.smooth_cosine(query[i], document, 0.5) for document in documents[i]] for i in range(2)]
    scores = SmoothCosine(0.5)(query.astype(np.float32), documents.astype(np.float32))
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@given(vectors, vectors, epsilons)
def test_score_agrees_with_the_reference_at_any_norm_is_symmetric_and_at_most_one(query, document, epsilon):
    value = score(query, document, epsilon)
    assert value == pytest.approx(reference.smooth_cosine(query, document, epsilon), abs=1e-6)
    assert value == pytest.approx(score(document, query, epsilon), abs=1e-6)
    assert abs(value) <= 1 + 1e-6


@given(vectors, vectors, st.floats(1e-3, 10))
def test_gradient_is_at_most_one_over_epsilon_in_each_argument_and_in_both_together(query, document, epsilon):
    by_query, by_document = gradients(query, document, epsilon)
    assert np.linalg.norm([by_query, by_document]) <= (1 + 1e-6) / epsilon


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 2.0])
def test_gradient_is_the_slope_of_the_reference(epsilon):
    random = np.random.default_rng(2)
    for _ in range(3):
        query, document = random.normal(size=(2, DIM)).astype(np.float32)
        by_query, by_document = gradients(query, document, epsilon)
        slopes = reference.slopes(lambda both: reference.smooth_cosine(*both, epsilon), [query, document])
        np.testing.assert_allclose([by_query, by_document], slopes, atol=1e-5)


@pytest.mark.parametrize("norm", [1e-30, 1e30])
def test_the_plain_cosine_and_its_gradient_are_finite_for_tiny_and_huge_norms(norm):
    query, document = (norm * np.array(vector, np.float32) for vector in ([1, 1, 0], [1, 0, 0]))
    assert score(query, document, 0.0) == pytest.approx(1 / np.sqrt(2))
    assert np.isfinite(gradients(query, document, 0.0)).all()


def test_zero_vector_has_the_score_and_the_gradient_of_the_smooth_formula():
    zero, document = np.zeros(2, np.float32), np.array([3, 4], np.float32)
    by_query, by_document = gradients(zero, document, epsilon=2.0)
    assert score(zero, document, epsilon=2.0) == 0
    np.testing.assert_allclose(by_query, document / (5 + 2) / 2, rtol=1e-6)  # d / (|d| + epsilon) / epsilon
    assert not by_document.any()
    assert not np.any(gradients(zero, zero, epsilon=2.0))


def test_plain_cosine_of_the_zero_vector_is_zero_with_gradient_zero():
    zero, document = np.zeros(2, np.float32), np.array([3, 4], np.float32)
    for arguments in [(zero, document), (document, zero), (zero, zero)]:
        assert score(*arguments, epsilon=0.0) == 0
        assert not np.any(gradients(*arguments, epsilon=0.0))


@pytest.mark.parametrize("epsilon", [-0.1, float("nan"), float("inf")])
def test_negative_or_infinite_epsilon_is_refused(epsilon):
    with pytest.raises(ValueError, match=f"epsilon .*; got {epsilon}"):
        SmoothCosine(epsilon)
