"""The ranker: what the distinct documents of a batch and its padding mean."""

import numpy as np
import pytest
import tensorflow as tf

from models.losses.sosl import SmoothOrdinalSearchLoss
from models.ranker import Ranker
from models.settings import ENCODERS, ModelSettings
from tests import reference

EPSILON = 0.5
QUERIES = [[0, 3], [2]]
DOCUMENTS = [[1, 1], [4, 0], [], [5]]
INDEX = [[0, 1], [1, 3]]


@pytest.fixture
def ranker():
    return Ranker(4, 6, ModelSettings(embedding_dim=3, epsilon=EPSILON, initial_scale=1.0), seed=1)


def features(documents, index):
    return {
        "query_tokens": tf.ragged.constant(QUERIES, tf.int32),
        "doc_tokens": tf.ragged.constant(documents, tf.int32, ragged_rank=1),
        "document_index": tf.constant(index),
    }


def loss_and_gradients(ranker, index, grades):
    with tf.GradientTape() as tape:
        loss = SmoothOrdinalSearchLoss()(tf.constant(grades), ranker(features(DOCUMENTS, index)))
    return float(loss), [tf.convert_to_tensor(part) for part in tape.gradient(loss, ranker.trainable_variables)]


def test_score_is_the_smooth_cosine_of_the_mean_embeddings(ranker):
    scores = ranker(features(DOCUMENTS, INDEX))
    query_table, document_table = (variable.numpy() for variable in ranker.trainable_variables)
    expected = [
        [
            reference.smooth_cosine(
                reference.mean_embedding(query_table, query),
                reference.mean_embedding(document_table, DOCUMENTS[place]),
                EPSILON,
            )
            for place in places
        ]
        for query, places in zip(QUERIES, INDEX, strict=True)
    ]
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_similarity_is_the_one_of_the_settings():
    scores = {}
    for similarity in ("smooth_cosine", "cosine", "dot"):
        ranker = Ranker(4, 6, ModelSettings(embedding_dim=3, similarity=similarity, epsilon=EPSILON), seed=1)
        scores[similarity] = ranker(features(DOCUMENTS, [[0], [3]])).numpy()
        query, document = (part.numpy() for part in ranker.encode(features(DOCUMENTS, [[0], [3]])))
    pairs = list(zip(query, document[:, 0], strict=True))
    expected = {"smooth_cosine": [[reference.smooth_cosine(*pair, EPSILON)] for pair in pairs]}
    expected["cosine"] = [[reference.smooth_cosine(*pair, 0.0)] for pair in pairs]
    expected["dot"] = [[reference.dot(*pair)] for pair in pairs]
    for similarity, found in scores.items():
        np.testing.assert_allclose(found, expected[similarity], atol=1e-6)


def test_document_given_once_or_repeated_has_the_same_scores(ranker):
    repeated = [DOCUMENTS[place] for places in INDEX for place in places]
    np.testing.assert_allclose(
        ranker(features(repeated, [[0, 1], [2, 3]])), ranker(features(DOCUMENTS, INDEX)), rtol=1e-6
    )


def test_padded_places_change_neither_the_loss_nor_the_gradients(ranker):
    loss, gradients = loss_and_gradients(ranker, INDEX, [[2.0, 0.0], [1.0, 2.0]])
    padded_index = [[*places, -1, -1] for places in INDEX]
    padded = loss_and_gradients(ranker, padded_index, [[2.0, 0.0, -1.0, -1.0], [1.0, 2.0, -1.0, -1.0]])
    assert padded[0] == pytest.approx(loss)
    for with_padding, without in zip(padded[1], gradients, strict=True):
        np.testing.assert_allclose(with_padding, without, atol=1e-7)


def test_document_without_known_words_scores_zero(ranker):
    np.testing.assert_array_equal(ranker(features(DOCUMENTS, [[2], [2]])), [[0], [0]])


@pytest.mark.parametrize("encoder", ENCODERS)
def test_seed_decides_the_initial_weights_and_the_two_towers_differ(encoder):
    def weights(seed):
        ranker = Ranker(6, 6, ModelSettings(encoder=encoder, embedding_dim=3), seed=seed)
        ranker(features(DOCUMENTS, INDEX))
        return [array for array in ranker.get_weights() if array.ndim > 1]  # no biases

    one, again, other = weights(1), weights(1), weights(2)
    assert all(map(np.array_equal, one, again))
    assert not any(map(np.array_equal, one, other))
    half = len(one) // 2
    assert not any(map(np.array_equal, one[:half], one[half:]))


# Pre-trained vectors

VECTORS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_pretrained_vectors_fill_the_first_rows_and_the_others_stay_as_they_were(ranker):
    random = Ranker(4, 6, ModelSettings(embedding_dim=3, initial_scale=1.0), seed=1)
    random(features(DOCUMENTS, INDEX))
    ranker.start_from(ranker.document_encoder, VECTORS, train=True)
    query, document = (table.numpy() for table in ranker.trainable_variables)
    np.testing.assert_array_equal(query, random.get_weights()[0])
    np.testing.assert_array_equal(document, [*VECTORS, *random.get_weights()[1][2:]])


def test_frozen_table_is_a_weight_that_is_not_trained(ranker):
    ranker.start_from(ranker.query_encoder, VECTORS, train=False)
    ranker.start_from(ranker.document_encoder, VECTORS, train=True)
    assert [variable is ranker.document_encoder.table for variable in ranker.trainable_variables] == [True]
    assert len(ranker.get_weights()) == 2
    np.testing.assert_array_equal(ranker.query_encoder.table[:2], VECTORS)
