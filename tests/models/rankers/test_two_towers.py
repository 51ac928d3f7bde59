"""The two towers: what the distinct documents of a batch and its padding mean."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.layers.settings import CnnSettings, LstmSettings, MeanSettings, TextEncoderSettings
from models.layers.smooth_cosine import SmoothCosine
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.rankers.scorer import InnerProduct, Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers, largest_score_gradient
from tests import reference
from tests.models.eagerly import EAGERLY

pytestmark = [pytest.mark.tensors, *EAGERLY]

EPSILON = 0.5
QUERIES = [[0, 3], [2]]
DOCUMENTS = [[1, 1], [4, 0], [], [5]]
INDEX = [[0, 1], [1, 3]]
WORDS = Words(4), Words(6)
MEAN = MeanSettings(initial_scale=1.0)


def make_towers(query_words=WORDS[0], document_words=WORDS[1], seed=1, **settings):
    """Built towers."""
    towers = TwoTowers(query_words, document_words, TwoTowersSettings(embedding_dim=3, **settings), seed=seed)
    towers(features(DOCUMENTS, INDEX))
    return towers


@pytest.fixture
def towers():
    return make_towers(epsilon=EPSILON, encoder=MEAN)


def features(documents, index):
    return {
        "query_tokens": tf.ragged.constant(QUERIES, tf.int32),
        "doc_tokens": tf.ragged.constant(documents, tf.int32, ragged_rank=1),
        "document_index": tf.constant(index),
    }


def loss_and_gradients(towers, index, grades):
    with tf.GradientTape() as tape:
        loss = SmoothOrdinalSearchLoss()(tf.constant(grades), towers(features(DOCUMENTS, index)))
    return float(loss), [tf.convert_to_tensor(part) for part in tape.gradient(loss, towers.trainable_variables)]


@pytest.mark.parametrize("similarity", ["smooth_cosine", "cosine", "dot"])
def test_score_is_the_similarity_of_the_mean_embeddings_and_an_inner_product_of_vectors(similarity):
    towers = make_towers(similarity=similarity, epsilon=EPSILON, encoder=MEAN)
    index = [[0, 1, 2], [1, 3, 2]]  # document 2 has no known word
    batch = features(DOCUMENTS, index)
    tables = (variable.numpy() for variable in towers.trainable_variables)
    queries, documents = (
        [reference.mean_embedding(table, text) for text in texts]
        for table, texts in zip(tables, (QUERIES, DOCUMENTS), strict=True)
    )
    formula = {
        "smooth_cosine": lambda *pair: reference.smooth_cosine(*pair, EPSILON),
        "cosine": lambda *pair: reference.smooth_cosine(*pair, 0.0),
        "dot": reference.dot,
    }[similarity]
    expected = [[formula(query, documents[row]) for row in rows] for query, rows in zip(queries, index, strict=True)]
    query, document = towers.query_vector(batch).numpy(), towers.document_vector(batch).numpy()
    assert query.shape == (len(QUERIES), 3) and document.shape == (len(DOCUMENTS), 3)
    products = [[query[row] @ document[column] for column in columns] for row, columns in enumerate(index)]
    for scores in (towers(batch), towers.score_texts(batch), InnerProduct.call(towers, batch), products):
        np.testing.assert_allclose(scores, expected, atol=1e-6)
        assert np.array(scores)[:, 2].tolist() == [0, 0]


def test_document_given_once_or_repeated_has_the_same_scores(towers):
    repeated = [DOCUMENTS[document] for documents in INDEX for document in documents]
    np.testing.assert_allclose(
        towers(features(repeated, [[0, 1], [2, 3]])), towers(features(DOCUMENTS, INDEX)), rtol=1e-6
    )


def test_padded_places_change_neither_the_loss_nor_the_gradients(towers):
    loss, gradients = loss_and_gradients(towers, INDEX, [[2.0, 0.0], [1.0, 2.0]])
    padded_index = [[*documents, -1, -1] for documents in INDEX]
    padded = loss_and_gradients(towers, padded_index, [[2.0, 0.0, -1.0, -1.0], [1.0, 2.0, -1.0, -1.0]])
    assert padded[0] == pytest.approx(loss)
    for with_padding, without in zip(padded[1], gradients, strict=True):
        np.testing.assert_allclose(with_padding, without, atol=1e-7)


@pytest.mark.parametrize("encoder", TextEncoderSettings.kinds)
def test_seed_decides_the_initial_weights_and_the_two_towers_differ(encoder):
    def weights(seed):
        towers = make_towers(Words(6), Words(6), seed, encoder=encoder)
        return [array for array in towers.get_weights() if array.ndim > 1]  # no biases

    first, again, reseeded = weights(1), weights(1), weights(2)
    assert all(map(np.array_equal, first, again))
    assert not any(map(np.array_equal, first, reseeded))
    half = len(first) // 2
    assert not any(map(np.array_equal, first[:half], first[half:]))


# Pre-trained vectors

VECTORS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_pretrained_vectors_fill_the_first_rows_and_the_others_stay_as_they_were():
    random, towers = make_towers(), make_towers(document_words=Words(6, VECTORS))
    np.testing.assert_array_equal(towers.query_encoder.table, random.query_encoder.table)
    np.testing.assert_array_equal(towers.document_encoder.table, [*VECTORS, *random.document_encoder.table[2:].numpy()])


def test_frozen_table_is_a_weight_that_is_not_trained():
    towers = make_towers(query_words=Words(4, VECTORS, train=False), document_words=Words(6, VECTORS))
    assert [variable is towers.document_encoder.table for variable in towers.trainable_variables] == [True]
    assert len(towers.get_weights()) == 2
    np.testing.assert_array_equal(towers.query_encoder.table[:2], VECTORS)


def test_the_settings_of_the_encoder_reach_it():
    small = make_towers(encoder=CnnSettings(filters=5))
    assert (small.query_encoder.filters, small.document_encoder.filters) == (5, 5)
    assert make_towers(encoder=LstmSettings(units=2)).query_encoder.units == 2


# With stems


def test_stems_have_embeddings_of_their_own_in_both_towers():
    words = Words(4, stems=3), Words(6, stems=5)
    towers = TwoTowers(
        *words,
        TwoTowersSettings(embedding_dim=3, encoder=MeanSettings(initial_scale=1.0, stem_embeddings=True)),
        seed=1,
    )
    query_stems, document_stems = [[2], [0, 0, 1]], [[], [4, 1], [3], [0]]
    batch = features(DOCUMENTS, INDEX) | {
        "query_stems": tf.ragged.constant(query_stems, tf.int32),
        "doc_stems": tf.ragged.constant(document_stems, tf.int32, ragged_rank=1),
    }
    scores = towers(batch)
    queries, documents = (
        [
            reference.mean_embedding_with_stems(encoder.table.numpy(), encoder.stem_table.numpy(), *texts)
            for texts in zip(tokens, stems, strict=True)
        ]
        for encoder, tokens, stems in (
            (towers.query_encoder, QUERIES, query_stems),
            (towers.document_encoder, DOCUMENTS, document_stems),
        )
    )
    expected = [
        [reference.smooth_cosine(query, documents[row], 1.0) for row in rows]
        for query, rows in zip(queries, INDEX, strict=True)
    ]
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    np.testing.assert_allclose(towers.score_texts(batch), expected, atol=1e-6)


def test_a_model_without_stems_takes_none_where_the_lists_have_them():
    towers = make_towers(Words(4, stems=3), Words(6, stems=5))
    assert len(towers.get_weights()) == 2


# What is watched


def test_watched_gradients_are_those_of_the_encodings_and_the_bound_is_the_similarities():
    towers = make_towers(epsilon=EPSILON, encoder=MEAN)
    batch = features(DOCUMENTS, [[0, 1], [3, -1]])
    scores, watched = towers.score_and_watch(batch)
    np.testing.assert_array_equal(scores, towers(batch))
    query, documents = towers.encode(batch)
    mask = tf.constant([[True, True], [True, False]])
    assert {name: float(value) for name, value in watched.items()} == {
        f"score_gradient/{name}": float(largest_score_gradient(similarity, query, documents, mask))
        for name, similarity in {"max": SmoothCosine(EPSILON), "plain_cosine_max": SmoothCosine(0.0)}.items()
    }
    assert towers.figures() == {"score_gradient/bound": 1 / EPSILON}
    assert make_towers(similarity="cosine").figures() == {}


# What each word of a document adds


@settings(max_examples=10)
@given(
    document=st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 2)), max_size=8),
    similarity=st.sampled_from(["smooth_cosine", "cosine", "dot"]),
    has_stems=st.booleans(),
)
def test_the_shares_of_a_documents_words_add_up_to_its_score(document, similarity, has_stems):
    # Of each word the ids of itself and its stem, if they are known.
    towers = TwoTowers(
        Words(4, stems=3),
        Words(6, stems=3),
        TwoTowersSettings(
            embedding_dim=3, similarity=similarity, encoder=MeanSettings(initial_scale=1.0, stem_embeddings=has_stems)
        ),
        seed=1,
    )
    query = {"query_tokens": tf.ragged.constant([[0, 3]]), "query_stems": tf.ragged.constant([[1]])}

    def columns(texts):
        ids = zip(("doc_tokens", "doc_stems"), range(2), strict=True)
        rows = {name: [[word[side] for word in text if word[side] >= 0] for text in texts] for name, side in ids}
        return {name: tf.ragged.constant(row, tf.int32, ragged_rank=1) for name, row in rows.items()}

    score = towers({**query, **columns([document]), "document_index": tf.constant([[0]])})
    vectors = towers.word_vectors(columns([[word] for word in document]))
    assert vectors.shape == (len(document), 3)
    shares = tf.linalg.matvec(vectors, towers.query_vector(query)[0])
    assert float(tf.reduce_sum(shares)) == pytest.approx(float(score[0, 0]), abs=1e-5)
    unknown = [row for row, ids in enumerate(document) if max(ids[: 1 + has_stems]) < 0]
    assert not shares.numpy()[unknown].any()


def test_an_encoder_that_is_no_sum_over_words_has_no_shares():
    assert make_towers(encoder="cnn").word_vectors(features(DOCUMENTS, INDEX)) is None


def test_a_similarity_that_does_not_divide_has_no_shares(towers, monkeypatch):
    monkeypatch.setattr(towers.similarity, "document_divisor", lambda document: None)
    assert towers.word_vectors(features(DOCUMENTS, INDEX)) is None
