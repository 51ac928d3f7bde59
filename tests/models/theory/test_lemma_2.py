"""Lemma 2: no gradient and no second derivative exceeds its constant, and some come near."""

import math

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.layers.smooth_cosine import SmoothCosine
from models.losses.settings import ENDS, SoslSettings
from models.rankers.settings import TwoTowersSettings
from models.theory.lemma_2 import MEAN_ENCODER, Constants, loss_in_tables, smooth_cosine

pytestmark = pytest.mark.tensors

POINTS = 60
seeds = st.integers(0, 1000)
epsilons = st.floats(0.1, 10)
few = settings(max_examples=3)  # each with many points


def derivatives(function, at):
    """The norms of the gradient and of the second derivative, at each of several points: [points, n] -> [points]."""
    at = tf.constant(at, tf.float64)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(at)
        with tf.GradientTape() as inner:
            inner.watch(at)
            value = function(at)
        gradient = inner.gradient(value, at)
        parts = tf.unstack(gradient, axis=1)
    rows = [outer.gradient(part, at, unconnected_gradients="zero") for part in parts]
    return np.linalg.norm(gradient, axis=-1), np.linalg.norm(tf.stack(rows, axis=1), ord=2, axis=(1, 2))


def points(seed, size):
    """Random points of every length from a hundredth to a hundred."""
    random = np.random.default_rng(seed)
    return random.normal(size=(POINTS, size)) * 10 ** random.uniform(-2, 2, size=(POINTS, 1))


def score(query, document, epsilon):
    return SmoothCosine(epsilon, dtype="float64")(query, document[:, tf.newaxis])[:, 0]


def score_of_both(epsilon):
    """The score as a function of query and document behind each other."""
    return lambda both: score(*tf.split(both, 2, axis=1), epsilon)


def encode(tables, mean):
    """tanh(W^T m) for each of several tables, whose entries stand behind each other."""
    return tf.tanh(tf.einsum("pwc,pw->pc", tf.reshape(tables, [len(mean), mean.shape[1], -1]), mean))


def means(seed, words):
    """Means of one-hot words of texts, some of one word alone."""
    random = np.random.default_rng(seed)
    return np.array(
        [random.multinomial(tokens, np.ones(words) / words) / tokens for tokens in [1, 2, 3, 5] * (POINTS // 4)]
    )


@few
@given(seeds, epsilons)
def test_derivatives_of_the_score_never_exceed_their_constants(seed, epsilon):
    both = np.concatenate([points(seed, 3), points(seed + 1, 3)], axis=1)
    slope, curvature = derivatives(score_of_both(epsilon), both)
    constants = smooth_cosine(epsilon)
    assert slope.max() <= constants.lipschitz * (1 + 1e-9)
    assert curvature.max() <= constants.smoothness * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 5.0])
def test_they_come_near_where_one_vector_is_short_and_the_other_long(epsilon):
    norms = derivatives(score_of_both(epsilon), np.array([[1e-4, 0, 1e4, 0]]) * epsilon)
    assert np.concatenate(norms) == pytest.approx(smooth_cosine(epsilon), rel=1e-3)


@few
@given(seeds)
def test_derivatives_of_the_mean_encoder_never_exceed_their_constants(seed):
    directions = points(seed, 2)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    mean = means(seed, 3)
    slope, curvature = derivatives(lambda tables: tf.reduce_sum(encode(tables, mean) * directions, 1), points(seed, 6))
    assert slope.max() <= MEAN_ENCODER.lipschitz * (1 + 1e-9)
    assert curvature.max() <= MEAN_ENCODER.smoothness * (1 + 1e-9)


def test_the_mean_encoders_are_reached_by_a_text_of_one_word():
    steepest = math.atanh(1 / math.sqrt(3))  # where the second derivative of tanh is largest
    slope, curvature = derivatives(lambda table: encode(table, np.ones((2, 1)))[:, 0], [[0.0], [steepest]])
    assert (slope[0], curvature[1]) == pytest.approx(MEAN_ENCODER)


@few
@given(seeds, epsilons, st.sampled_from([0, 1, 2]))
def test_derivatives_of_sosl_in_the_tables_never_exceed_their_constants(seed, epsilon, grade):
    theta = (0.2, 0.7)
    low, high = (-1.0, *theta, 1.0)[grade : grade + 2]
    query, document = means(seed, 2), means(seed + 1, 2)

    def loss(tables):
        by_query, by_document = tf.split(tables, 2, axis=1)
        scores = score(encode(by_query, query), encode(by_document, document), epsilon)
        return tf.nn.relu(scores - high) ** 2 + tf.nn.relu(low - scores) ** 2

    in_score = SoslSettings().theory.constants(theta, ENDS)
    constants = loss_in_tables(Constants(in_score.lipschitz, in_score.smoothness), TwoTowersSettings(epsilon=epsilon))
    slope, curvature = derivatives(loss, points(seed, 8))
    assert slope.max() <= constants.lipschitz
    assert curvature.max() <= constants.smoothness


def test_composition_needs_the_inner_constant_squared():
    """sin(10 x): the paper's Lemma A.2 would give 1 * 0 + 10 * 1 = 10 where the second derivative reaches 100."""
    inner, outer = Constants(10.0, 0.0), Constants(1.0, 1.0)
    _, curvature = derivatives(lambda x: tf.sin(10 * x[:, 0]), [[math.pi / 20]])
    assert outer.after(inner) == (10, pytest.approx(curvature[0]))


@pytest.mark.parametrize("values", [{"similarity": "cosine"}, {"similarity": "dot"}, {"epsilon": 0.0}])
def test_without_smooth_cosine_there_are_no_constants(values):
    assert loss_in_tables(Constants(1.0, 1.0), TwoTowersSettings(**values)) is None
