"""Mean embedding: tanh of the mean of the tokens there are, and a gradient of the rows that occur."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.layers.mean_embedding import MeanEmbedding
from tests import reference

VOCABULARY_SIZE, DIM = 9, 4
texts = st.lists(st.lists(st.integers(0, VOCABULARY_SIZE - 1), max_size=6), min_size=1, max_size=4)


def ragged(tokens):
    return tf.ragged.constant(tokens, tf.int32, ragged_rank=1)


@pytest.fixture(scope="module")
def layer():
    layer = MeanEmbedding(VOCABULARY_SIZE, DIM, initial_scale=1.0, seed=1)
    layer.build(None)
    return layer


def gradient(layer, tokens):
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(layer(ragged(tokens)))
    return tape.gradient(value, layer.table)


def test_vector_is_tanh_of_the_mean_of_the_two_rows(layer):
    table = layer.table.numpy()
    np.testing.assert_allclose(layer(ragged([[2, 5]]))[0], np.tanh((table[2] + table[5]) / 2), rtol=1e-6)


@given(tokens=texts)
def test_vectors_agree_with_the_reference(layer, tokens):
    expected = [reference.mean_embedding(layer.table.numpy(), text) for text in tokens]
    np.testing.assert_allclose(layer(ragged(tokens)), expected, atol=1e-6)


@given(tokens=texts, random=st.randoms())
def test_order_of_the_tokens_does_not_matter(layer, tokens, random):
    shuffled = [random.sample(text, len(text)) for text in tokens]
    np.testing.assert_allclose(layer(ragged(shuffled)), layer(ragged(tokens)), atol=1e-6)


@given(tokens=texts)
def test_components_lie_within_minus_one_and_one(layer, tokens):
    assert np.abs(layer(ragged(tokens))).max() < 1


@pytest.mark.parametrize("tokens", [[[]], [[], []], [[1, 1], [], [3]]])
def test_text_without_tokens_has_the_zero_vector_and_no_gradient(layer, tokens):
    empty = [not text for text in tokens]
    assert not layer(ragged(tokens)).numpy()[empty].any()
    slices = gradient(layer, tokens)
    assert np.isfinite(slices.values).all()
    assert np.array_equal(np.abs(slices.values).sum() == 0, all(empty))


def test_no_texts_have_no_vectors(layer):
    assert layer(ragged([])).shape == (0, DIM)


@given(tokens=texts)
def test_gradient_holds_the_rows_that_occur_once_each_and_no_others(layer, tokens):
    slices = gradient(layer, tokens)
    assert isinstance(slices, tf.IndexedSlices)
    assert sorted(slices.indices.numpy()) == sorted({token for text in tokens for token in text})


def test_gradient_is_the_derivative_of_the_mean():
    table, tokens = tf.constant(np.random.default_rng(3).normal(size=(VOCABULARY_SIZE, DIM))), ragged([[1, 1, 4], [4]])
    layer = MeanEmbedding(VOCABULARY_SIZE, DIM)
    layer.built = True

    def vectors(rows):
        layer.table = rows
        return layer.call(tokens)

    exact, numeric = tf.test.compute_gradient(vectors, [table])
    np.testing.assert_allclose(exact[0], numeric[0], atol=1e-5)


def test_same_seed_gives_the_same_table():
    tables = []
    for seed in (1, 1, 2):
        layer = MeanEmbedding(VOCABULARY_SIZE, DIM, seed=seed)
        layer.build(None)
        tables.append(layer.table.numpy())
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])
