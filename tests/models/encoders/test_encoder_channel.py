"""models/encoders/encoder_channel.py: the standardised cosine, against float64."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.encoders import encoder_channel
from models.encoders.encoder_channel import EncoderChannel, cosines_of
from models.rankers.fixed_scores import with_fixed_scores
from models.rankers.scorer import ScorerInputs
from schemas.errors import DataError
from tests import reference
from tests.models.encoders.small_encoder import with_vectors
from tests.models.synthetic import ranking_lists

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

LISTED = [[0, 1, 2], [3], [1, 3]]
RANDOM = np.random.default_rng(1)
QUERIES, DOCUMENTS = RANDOM.normal(size=(3, 4), loc=0.5), RANDOM.normal(size=(4, 4), loc=0.5)
WORDLESS = ranking_lists([[]] * 3, [[]] * 4, LISTED, [[2, 0, 1], [2], [0, 2]])
LISTS = with_vectors(WORDLESS, QUERIES, DOCUMENTS)


def channel_of(lists=LISTS) -> EncoderChannel:
    """The channel as a training makes it."""
    inputs: dict[str, Any] = dict.fromkeys(ScorerInputs._fields)
    inputs |= {"name": "encoder", "train_texts": lambda: lists}
    return EncoderChannel.make(ScorerInputs(**inputs))


def all_pairs(lists):
    """(vector of the query, that of the document) of all pairs, as they are kept, in float64."""
    queries, documents = lists.query_columns["query_vector"], lists.document_columns["doc_vector"]
    return [
        (queries.read(np.array([row]))[0].astype(np.float64), documents.read(np.array([column]))[0].astype(np.float64))
        for row, columns in enumerate(lists.documents.to_list())
        for column in columns
    ]


def cosines(lists):
    return np.array([reference.smooth_cosine(*pair, epsilon=0.0) for pair in all_pairs(lists)])


def scores_of(channel, lists):
    """The scores of all pairs, list by list."""
    column = with_fixed_scores(lists, lists, [channel]).list_columns["fixed_score_encoder"]
    return column.flat_values.numpy()


def test_a_score_is_the_cosine_less_the_mean_in_units_of_the_deviation():
    channel, expected = channel_of(), cosines(LISTS)
    assert (channel.mean, channel.deviation) == pytest.approx((expected.mean(), expected.std()), rel=1e-5)
    np.testing.assert_allclose(
        scores_of(channel, LISTS), (expected - expected.mean()) / expected.std(), rtol=1e-4, atol=1e-5
    )


def test_scores_of_the_train_lists_have_mean_0_and_deviation_1_however_narrow_the_cosines_are():
    narrow = with_vectors(WORDLESS, QUERIES + 20, DOCUMENTS + 20)
    assert np.ptp(cosines(narrow)) < 0.01
    scores = scores_of(channel_of(narrow), narrow).astype(np.float64)
    assert (scores.mean(), scores.std()) == pytest.approx((0, 1), abs=2e-3)


def test_other_lists_are_scored_on_the_scale_of_the_train_lists_whatever_the_length_of_their_vectors():
    channel, scaled = channel_of(), with_vectors(WORDLESS, 7 * DOCUMENTS[:3], 0.1 * DOCUMENTS)
    expected = (cosines(scaled) - cosines(LISTS).mean()) / cosines(LISTS).std()
    np.testing.assert_allclose(scores_of(channel, scaled), expected, rtol=1e-4, atol=1e-5)


def test_the_inner_product_of_its_vectors_is_the_score():
    channel = channel_of()
    features, _ = LISTS.batch(tf.range(3))
    query, document = channel.query_vector(features).numpy(), channel.document_vector(features).numpy()
    assert query.shape == (3, 5) and document.shape == (4, 5)
    index, scores = features["document_index"].numpy(), channel.score_texts(features).numpy()
    for row, documents in enumerate(LISTED):
        held = document[index[row, : len(documents)]]
        np.testing.assert_allclose(held @ query[row], scores[row, : len(documents)], atol=1e-6)


def test_a_text_without_a_vector_has_the_cosine_0():
    channel = channel_of()
    empty = with_vectors(WORDLESS, [QUERIES[0], [0] * 4, QUERIES[2]], DOCUMENTS)
    assert scores_of(channel, empty)[3] == pytest.approx(-channel.mean / channel.deviation)


@settings(max_examples=6)
@given(st.lists(st.lists(st.floats(-9, 9, width=16), min_size=4, max_size=4), min_size=7, max_size=7))
def test_no_score_lies_outside_of_the_range(vectors):
    channel = channel_of()
    low, high = channel.score_range
    scores = scores_of(channel, with_vectors(WORDLESS, vectors[:3], vectors[3:]))
    assert low - 1e-5 <= scores.min() and scores.max() <= high + 1e-5
    assert channel.padded_score < low


def test_the_range_is_reached_by_equal_and_by_opposite_vectors():
    channel = channel_of()
    opposite = with_vectors(WORDLESS, [[3, 4, 0, 0]] * 3, [[3, 4, 0, 0], [-6, -8, 0, 0], [1, 0, 0, 0], [0, 0, 2, 0]])
    np.testing.assert_allclose(scores_of(channel, opposite)[[1, 0]], channel.score_range, rtol=1e-5)


@pytest.mark.parametrize("vector", [[1, 2, 3, 4], [0.1, 0.7, -0.3, 1e-3]])
def test_equal_cosines_are_refused_with_their_value(vector):
    with pytest.raises(DataError, match=r"encoder .* 6 are 1\.000000"):
        channel_of(with_vectors(WORDLESS, [vector] * 3, [vector] * 4))


@pytest.mark.parametrize("size", [1, 4, 7])
def test_cosines_are_taken_in_parts_of_any_size(size, monkeypatch):
    monkeypatch.setattr(encoder_channel, "_PAIRS_AT_ONCE", size)
    np.testing.assert_allclose(cosines_of(LISTS), cosines(LISTS), atol=1e-6)


def test_nothing_of_it_is_trained():
    channel = channel_of()
    scores_of(channel, LISTS)
    assert channel.weights == [] and channel.fitted == {}
