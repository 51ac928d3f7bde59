"""The largest score: reached where tanh saturates, and never exceeded."""

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.rankers.two_towers import make_similarity
from models.settings import ModelSettings
from models.theory.largest_score import largest_score

pytestmark = pytest.mark.tensors

models = st.builds(
    ModelSettings,
    similarity=st.sampled_from(["smooth_cosine", "cosine", "dot"]),
    embedding_dim=st.integers(1, 64),
    epsilon=st.just(0.0) | st.floats(1e-6, 10),
)


def scores(settings, query, document):
    return make_similarity(settings)(tf.constant([query]), tf.constant([[document]])).numpy()[0, 0]


@given(models)
def test_it_is_the_score_of_two_saturated_vectors_and_its_negative_that_of_opposite_ones(settings):
    ones = [1.0] * settings.embedding_dim
    opposite = [-1.0] * settings.embedding_dim
    assert scores(settings, ones, ones) == pytest.approx(largest_score(settings))
    assert scores(settings, ones, opposite) == pytest.approx(-largest_score(settings))


@given(models, st.integers(0, 100), st.floats(0.01, 100))
def test_no_score_of_vectors_out_of_tanh_exceeds_it_or_falls_to_the_padded_score(settings, seed, scale):
    shape = [20, settings.embedding_dim]
    query, documents = (tf.tanh(tf.random.stateless_normal(shape, [seed, i], stddev=scale)) for i in range(2))
    similarity = make_similarity(settings)
    found = similarity(query, documents[:, tf.newaxis]).numpy()
    assert abs(found).max() <= largest_score(settings) * (1 + 1e-5)
    if settings.similarity != "cosine" or settings.embedding_dim > 1:  # one component has the cosines 1 and -1 alone
        assert found.min() >= similarity.padded_score
