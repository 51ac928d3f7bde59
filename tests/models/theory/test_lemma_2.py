"""Lemma 2: no gradient and no second derivative exceeds its constant, and some come near."""

import math

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.layers.smooth_cosine import SmoothCosine
from models.settings import ModelSettings
from models.theory.lemma_2 import MEAN_ENCODER, Constants, loss_in_tables, smooth_cosine
from models.theory.proposition_1 import loss_constants

seeds = st.integers(0, 1000)
epsilons = st.floats(0.1, 10)
scales = st.floats(1e-2, 1e2)


def derivatives(function, at):
    """The norms of the gradient and of the matrix of second derivatives of a function of one vector, in float64."""
    at = tf.constant(at, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(at)
        with tf.GradientTape() as inner:
            inner.watch(at)
            value = function(at)
        gradient = inner.gradient(value, at)
    return np.linalg.norm(gradient), np.linalg.norm(outer.jacobian(gradient, at, experimental_use_pfor=False), 2)


def score(epsilon):
    """Smooth cosine as a function of query and document behind each other."""
    layer = SmoothCosine(epsilon, dtype="float64")

    def function(both):
        query, document = tf.split(both, 2)
        return layer(query[tf.newaxis], document[tf.newaxis, tf.newaxis])[0, 0]

    return function


@given(seeds, epsilons, scales, scales)
def test_derivatives_of_the_score_never_exceed_their_constants(seed, epsilon, query_scale, document_scale):
    both = np.random.default_rng(seed).normal(size=6) * np.repeat([query_scale, document_scale], 3)
    slope, curvature = derivatives(score(epsilon), both)
    constants = smooth_cosine(epsilon)
    assert slope <= constants.lipschitz * (1 + 1e-9)
    assert curvature <= constants.smoothness * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_they_come_near_where_one_vector_is_short_and_the_other_long(epsilon):
    slope, curvature = derivatives(score(epsilon), np.array([1e-4, 0, 1e4, 0]) * epsilon)
    constants = smooth_cosine(epsilon)
    assert slope == pytest.approx(constants.lipschitz, rel=1e-3)
    assert curvature == pytest.approx(constants.smoothness, rel=1e-3)


def encoder(mean, direction):
    """A component along `direction` of tanh(W^T m), as a function of W."""

    def function(table):
        rows = tf.reshape(table, [len(mean), -1])
        return tf.tensordot(tf.tanh(tf.linalg.matvec(rows, mean, transpose_a=True)), direction, 1)

    return function


@given(seeds, scales, st.integers(1, 5))
def test_derivatives_of_the_mean_encoder_never_exceed_their_constants(seed, scale, tokens):
    random = np.random.default_rng(seed)
    mean = np.bincount(random.integers(4, size=tokens), minlength=4) / tokens
    direction = random.normal(size=2)
    function = encoder(mean, direction / np.linalg.norm(direction))
    slope, curvature = derivatives(function, random.normal(size=8) * scale)
    assert slope <= MEAN_ENCODER.lipschitz * (1 + 1e-9)
    assert curvature <= MEAN_ENCODER.smoothness * (1 + 1e-9)


def test_the_mean_encoders_are_reached_by_a_text_of_one_word():
    steepest = math.atanh(1 / math.sqrt(3))  # where |tanh''| is largest
    slope, _ = derivatives(encoder(np.array([1.0]), np.array([1.0])), [0.0])
    _, curvature = derivatives(encoder(np.array([1.0]), np.array([1.0])), [steepest])
    assert (slope, curvature) == pytest.approx(MEAN_ENCODER)


@given(seeds, epsilons, scales, st.sampled_from([0, 1, 2]))
def test_derivatives_of_sosl_in_the_tables_never_exceed_their_constants(seed, epsilon, scale, grade):
    theta = (0.2, 0.7)
    low, high = (-1.0, *theta, 1.0)[grade : grade + 2]
    random = np.random.default_rng(seed)
    means = random.dirichlet(np.ones(2), size=2)
    scores = score(epsilon)

    def function(tables):
        query, document = tf.unstack(tf.reshape(tables, [2, 2, 2]))
        vectors = [tf.tanh(tf.linalg.matvec(query, means[0], transpose_a=True))]
        vectors += [tf.tanh(tf.linalg.matvec(document, means[1], transpose_a=True))]
        value = scores(tf.concat(vectors, 0))
        return tf.nn.relu(value - high) ** 2 + tf.nn.relu(low - value) ** 2

    loss = loss_constants("sosl", theta)
    constants = loss_in_tables(Constants(loss.lipschitz, loss.smoothness), ModelSettings(epsilon=epsilon))
    slope, curvature = derivatives(function, random.normal(size=8) * scale)
    assert slope <= constants.lipschitz
    assert curvature <= constants.smoothness


def test_composition_needs_the_inner_constant_squared():
    """sin(10 x): the paper's Lemma A.2 would give 1 * 0 + 1 * 10 = 10 where the second derivative reaches 100."""
    inner, outer = Constants(10.0, 0.0), Constants(1.0, 1.0)
    _, curvature = derivatives(lambda x: tf.sin(10 * x[0]), [math.pi / 20])
    assert outer.after(inner) == (10, pytest.approx(curvature))


@pytest.mark.parametrize("values", [{"similarity": "cosine"}, {"similarity": "dot"}, {"epsilon": 0.0}])
def test_without_smooth_cosine_there_are_no_constants(values):
    assert loss_in_tables(Constants(1.0, 1.0), ModelSettings(**values)) is None
