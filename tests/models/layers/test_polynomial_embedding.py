"""Polynomial embedding: linear and quadratic maps of unit-length tf-idf vectors, and the scores of the paper."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.layers.dot_product import DotProduct
from models.layers.polynomial_embedding import PolynomialEmbedding
from models.losses.tf_ranking import PairwiseHingeLoss
from models.optimizers.lazy_adam import LazyAdam
from tests import reference

pytestmark = pytest.mark.tensors

TERMS, DIM = 6, 3
IDF = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], np.float32)
texts = st.lists(st.lists(st.integers(0, TERMS - 1), max_size=8), min_size=1, max_size=5)


def ragged(tokens):
    return tf.ragged.constant(tokens, tf.int32, ragged_rank=1)


def make(degree, seed=1):
    layer = PolynomialEmbedding(TERMS, DIM, initial_scale=1.0, seed=seed, degree=degree, idf=IDF)
    layer.build(None)
    return layer


@pytest.fixture(scope="module")
def linear():
    return make(2)


@pytest.fixture(scope="module")
def quadratic():
    return make(3)


def test_a_text_is_the_sum_of_its_terms_rows_weighted_by_tf_idf_of_unit_length(linear):
    weights = np.array([2 * 1.0, 1 * 2.0]) / np.hypot(2 * 1.0, 1 * 2.0)
    np.testing.assert_allclose(linear(ragged([[1, 3, 1]]))[0], weights @ linear.table.numpy()[[1, 3]], rtol=1e-6)


@given(tokens=texts)
def test_vectors_of_both_degrees_are_those_of_the_reference(linear, quadratic, tokens):
    table, second_table, idf = quadratic.get_weights()
    expected = [reference.polynomial_embedding(table, second_table, idf, text) for text in tokens]
    np.testing.assert_allclose(quadratic(ragged(tokens)), expected, rtol=1e-5, atol=1e-6)
    expected = [reference.tf_idf(idf, text) @ linear.table.numpy() for text in tokens]
    np.testing.assert_allclose(linear(ragged(tokens)), expected, rtol=1e-5, atol=1e-6)


def test_idf_is_no_weight_that_training_moves(quadratic):
    assert {weight.name for weight in quadratic.trainable_weights} == {"table:0", "second_table:0"}


@given(words=texts)
def test_the_parts_of_a_texts_words_add_up_to_its_vector(linear, words):
    parts = linear.word_parts(ragged(words))
    assert parts.shape == (len(words), DIM)
    np.testing.assert_allclose(tf.reduce_sum(parts, axis=0), linear(ragged([sum(words, [])]))[0], atol=1e-5)


@pytest.mark.parametrize("degree", [1, 4])
def test_another_degree_is_refused(degree):
    with pytest.raises(ValueError, match=f"degree .*; got {degree}"):
        PolynomialEmbedding(TERMS, DIM, degree=degree)


# The paper's ranker: f2 and f3, the margin ranking loss, and its gradient

QUERIES = [[0, 1, 1], [2, 5]]
DOCUMENTS = [[1, 2], [0, 0, 3], [4, 5, 1], [3, 4, 2, 0]]
GRADES = np.array([[2.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 2.0]])


def paper_scores(degree, matrices):
    """f2 or f3 without identity of each document for each query, in float64: eqs. 3 and 4, summed over dimensions."""
    u, v, *y = matrices
    q, d = (np.array([reference.tf_idf(IDF, text) for text in texts]) for texts in (QUERIES, DOCUMENTS))
    scores = np.einsum("qi,di->qd", q @ u, d @ v)
    return scores + (np.einsum("qi,di,di->qd", q @ u, d @ v, d @ y[0]) if degree == 3 else 0)


def paper_loss(degree, matrices):
    """The mean over the queries of the margin ranking loss (eq. 5), divided by the number of documents of a list."""
    lists = zip(GRADES, paper_scores(degree, matrices), strict=True)
    return np.mean([reference.pairwise_hinge(*grades_and_scores) for grades_and_scores in lists])


def adam(degree, matrices, steps, rate=0.01):
    """Adam (Kingma and Ba 2015) in float64."""
    m, v = ([np.zeros_like(matrix) for matrix in matrices] for _ in range(2))
    for step in range(1, steps + 1):

        def loss(value, row):
            return paper_loss(degree, [*matrices[:row], value, *matrices[row + 1 :]])

        gradients = [reference.slopes(partial(loss, row=row), matrix) for row, matrix in enumerate(matrices)]
        for row, g in enumerate(gradients):
            m[row] = 0.9 * m[row] + 0.1 * g
            v[row] = 0.999 * v[row] + 0.001 * g**2
            move = m[row] / (1 - 0.9**step) / (np.sqrt(v[row] / (1 - 0.999**step)) + 1e-7)
            matrices[row] = matrices[row] - rate * move
    return matrices


@pytest.mark.parametrize("degree", [2, 3])
def test_score_loss_and_five_steps_are_those_of_the_paper_in_float64(degree):
    query, document = make(2, seed=1), make(degree, seed=2)
    variables = [*query.trainable_variables, *document.trainable_variables]
    matrices = [variable.numpy().astype(np.float64) for variable in variables]
    similarity, loss, optimizer = DotProduct(DIM, float("inf")), PairwiseHingeLoss(reduction="none"), LazyAdam(0.01)
    optimizer.build(variables)
    for step in range(5):
        with tf.GradientTape() as tape:
            document_vectors = document(ragged(DOCUMENTS))
            scores = similarity(query(ragged(QUERIES)), tf.stack([document_vectors] * len(QUERIES)))
            value = tf.reduce_mean(loss(tf.constant(GRADES, tf.float32), scores))
        if step == 0:
            np.testing.assert_allclose(scores, paper_scores(degree, matrices), rtol=1e-5, atol=1e-6)
            assert float(value) == pytest.approx(paper_loss(degree, matrices), rel=1e-5)
        optimizer.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
    # Adam's epsilon is not scaled by the bias correction here, hence the tolerance.
    for variable, matrix in zip(variables, adam(degree, matrices, steps=5), strict=True):
        np.testing.assert_allclose(variable, matrix, atol=2e-5)
