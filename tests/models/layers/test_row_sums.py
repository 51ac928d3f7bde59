"""The means and weighted sums of texts' rows, and their gradients."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, given
from hypothesis import strategies as st

from models.layers.row_sums import segment_mean, weighted_sum

pytestmark = pytest.mark.tensors

seeds = st.integers(0, 2**32 - 1)
texts_of_rows = st.integers(0, 5).flatmap(
    lambda rows: st.lists(st.lists(st.integers(0, rows - 1), max_size=4) if rows else st.just([]), max_size=5).map(
        lambda texts: (rows, texts)
    )
)
"""The number of rows, and the rows of each text; texts and rows may be none."""


def tensors(texts):
    ragged = tf.RaggedTensor.from_row_lengths(
        tf.constant([row for text in texts for row in text], tf.int32), tf.constant([*map(len, texts)], tf.int64)
    )
    return ragged.values, ragged.value_rowids(), ragged.nrows()


@given(texts_of_rows, seeds)
def test_the_means_and_their_gradient_are_bit_by_bit_those_of_tensorflow(case, seed):
    rows, texts = case
    assume(any(texts))  # TensorFlow's gradient of no occurrences is memory of any content
    row, text, number = tensors(texts)
    random = np.random.default_rng(seed)
    table = tf.constant(random.normal(size=(rows, 3)), tf.float32)
    upstream = tf.constant(random.normal(size=(len(texts), 3)), tf.float32)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(table)
        ours = segment_mean(table, row, text, number, training=True)
        theirs = tf.sparse.segment_mean(table, row, text, num_segments=number)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(
        tape.gradient(ours, table, upstream), tf.convert_to_tensor(tape.gradient(theirs, table, upstream))
    )


@given(texts_of_rows, seeds)
def test_the_weighted_sums_and_their_gradient_are_products_with_the_matrix_of_the_weights(case, seed):
    rows, texts = case
    row, text, number = tensors(texts)
    random = np.random.default_rng(seed)
    table = tf.constant(random.normal(size=(rows, 3)), tf.float32)
    weight = random.uniform(size=len(row)).astype(np.float32)
    upstream = random.normal(size=(len(texts), 3)).astype(np.float32)
    matrix = np.zeros((len(texts), rows), np.float32)
    np.add.at(matrix, (text.numpy(), row.numpy()), weight)
    with tf.GradientTape() as tape:
        tape.watch(table)
        sums = weighted_sum(table, row, text, number, tf.constant(weight), training=True)
    np.testing.assert_allclose(sums, matrix @ table, atol=1e-5)
    np.testing.assert_allclose(tape.gradient(sums, table, tf.constant(upstream)), matrix.T @ upstream, atol=1e-5)


def test_the_gradient_of_texts_without_rows_is_empty():
    row, text, number = tensors([[], []])
    table = tf.zeros([0, 3])
    with tf.GradientTape() as tape:
        tape.watch(table)
        means = segment_mean(table, row, text, number, training=True)
    assert means.shape == (2, 3)
    assert tape.gradient(means, table).shape == (0, 3)
