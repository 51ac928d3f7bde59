"""The largest score: reached where tanh saturates, and never exceeded."""

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import make_similarity
from models.theory.largest_score import largest_score

pytestmark = pytest.mark.tensors

models = st.builds(
    TwoTowersSettings,
    similarity=st.sampled_from(["smooth_cosine", "cosine", "dot"]),
    embedding_dim=st.integers(1, 64),
    epsilon=st.just(0.0) | st.floats(1e-6, 10),
)


@given(models, st.integers(0, 100), st.floats(0.01, 100))
def test_it_is_the_score_of_saturated_vectors_and_no_other_exceeds_it_or_falls_to_the_padded_score(
    settings, seed, scale
):
    largest, similarity = largest_score(settings), make_similarity(settings, settings.embedding_dim, 1.0)
    saturated = tf.ones([1, settings.embedding_dim])
    assert similarity(saturated, saturated[:, tf.newaxis]).numpy().item() == pytest.approx(largest)
    assert similarity(saturated, -saturated[:, tf.newaxis]).numpy().item() == pytest.approx(-largest)
    shape = [20, settings.embedding_dim]
    query, documents = (tf.tanh(tf.random.stateless_normal(shape, [seed, i], stddev=scale)) for i in range(2))
    scores = similarity(query, documents[:, tf.newaxis]).numpy()
    assert abs(scores).max() <= largest * (1 + 1e-5)
    if settings.similarity != "cosine" or settings.embedding_dim > 1:  # one component has the cosines 1 and -1 alone
        assert scores.min() >= similarity.padded_score
