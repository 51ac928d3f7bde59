"""The largest gradient of a score, and its bound."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.layers.dot_product import DotProduct
from models.layers.smooth_cosine import SmoothCosine
from models.rankers.two_towers import largest_score_gradient

pytestmark = pytest.mark.tensors


def vectors(seed, *shape, scale=1.0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape) * scale, tf.float32)


def test_one_pair_by_hand():
    # score = 3 * d / ((3 + 1) (d + 1)) along one axis: 3/4 / (d + 1)^2 in d, d / (d + 1) / (3 + 1)^2 in the query.
    query, documents = tf.constant([[3.0, 0.0]]), tf.constant([[[1.0, 0.0]]])
    largest = largest_score_gradient(SmoothCosine(1.0), query, documents, tf.constant([[True]]))
    assert float(largest) == pytest.approx(max(3 / 4 / 2**2, 1 / 2 / 4**2))


def test_it_is_the_largest_over_pairs_and_over_both_sides():
    query, documents = vectors(1, 3, 8), vectors(2, 3, 5, 8)
    layer = SmoothCosine(0.5)
    each = [
        float(largest_score_gradient(layer, query[i : i + 1], documents[i : i + 1, j : j + 1], tf.constant([[True]])))
        for i in range(3)
        for j in range(5)
    ]
    assert float(largest_score_gradient(layer, query, documents, tf.ones([3, 5], tf.bool))) == pytest.approx(max(each))


def test_padding_is_left_out_and_without_a_pair_it_is_zero():
    query, documents = vectors(1, 1, 8), tf.concat([vectors(2, 1, 2, 8), vectors(3, 1, 1, 8, scale=1e-4)], axis=1)
    layer = SmoothCosine(0.0)
    alone = largest_score_gradient(layer, query, documents[:, :2], tf.constant([[True, True]]))
    padded, whole, nothing = (
        float(largest_score_gradient(layer, query, documents, tf.constant([mask])))
        for mask in ([True, True, False], [True, True, True], [False, False, False])
    )
    assert 0 == nothing < padded == float(alone) < whole / 100


@given(epsilon=st.floats(0.01, 10), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 100), dim=st.integers(1, 16))
def test_it_never_exceeds_the_bound_of_smooth_cosine(epsilon, scale, seed, dim):
    layer = SmoothCosine(epsilon)
    query, documents = vectors(seed, 4, dim, scale=scale), vectors(seed + 1, 4, 3, dim, scale=scale)
    largest = largest_score_gradient(layer, query, documents, tf.ones([4, 3], tf.bool))
    assert 0 < float(largest) <= layer.gradient_bound * (1 + 1e-5)


def test_that_of_the_inner_product_is_the_longer_vector_and_at_most_the_root_of_its_length():
    query, documents, mask = tf.ones([1, 9]), tf.constant([[[0.5] * 9]]), tf.constant([[True]])
    assert float(largest_score_gradient(DotProduct(9), query, documents, mask)) == DotProduct(9).gradient_bound == 3


def test_plain_cosine_has_no_bound():
    assert SmoothCosine(0.0).gradient_bound == float("inf")
    mask = tf.constant([[True]])
    near_zero = largest_score_gradient(SmoothCosine(0.0), vectors(1, 1, 4), vectors(2, 1, 1, 4, scale=1e-6), mask)
    assert float(near_zero) > 1e5
