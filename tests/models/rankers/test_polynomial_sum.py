"""The sum of Polynomial Semantic Indexing: its vectors, and the identity as the channel tfidf."""

import numpy as np
import pytest
import tensorflow as tf

from models.choices import SCORES
from models.layers.settings import PolynomialSettings
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from tests.models.lexicon.small_lexicon import features, learn, make_channel

pytestmark = pytest.mark.tensors

QUERIES, DOCUMENTS = ["a b b", "c", "z"], ["a a b", "c c b", "a b c"]
TERMS = {"a": 0, "b": 1, "c": 2}


def ids(texts):
    return tf.ragged.constant([[TERMS[word] for word in text.split() if word in TERMS] for text in texts], tf.int32, 1)


def ranker_and_features():
    """The towers, at zero, with the identity at weight 1 beside them; and three lists of three documents."""
    model = TwoTowersSettings(similarity="dot", embedding_dim=2, encoder=PolynomialSettings(degree=3))
    towers = TwoTowers(Words(3), Words(3), model, seed=1)
    channel = make_channel(learn([], [document.split() for document in DOCUMENTS], "tfidf"))
    batch = {
        **features(QUERIES, DOCUMENTS, np.tile(np.arange(3), (3, 1))),
        "query_tokens": ids(QUERIES),
        "doc_tokens": ids(DOCUMENTS),
    }
    towers(batch)
    for weight in towers.trainable_weights:
        weight.assign(tf.zeros_like(weight))
    return Ranker({"dot": towers, "tfidf": channel}, {"dot": 1.0, "tfidf": 1.0}), batch


def test_without_weights_the_identity_alone_ranks_by_the_cosine_of_tf_idf():
    ranker, batch = ranker_and_features()
    idf = {word: np.log((3 + 1) / (sum(word in document for document in DOCUMENTS) + 0.5)) for word in TERMS}

    def vector(text):
        return np.array([text.split().count(word) * idf[word] for word in TERMS])

    def cosine(query, document):
        q, d = vector(query), vector(document)
        return q @ d / (np.linalg.norm(q) * np.linalg.norm(d)) if q.any() else 0.0

    expected = [[cosine(query, document) for document in DOCUMENTS] for query in QUERIES]
    channel_scores = ranker.score_texts(batch)
    np.testing.assert_allclose(channel_scores[SCORES], expected, atol=1e-6)
    assert not channel_scores["dot"].numpy().any()


def test_its_range_has_no_bound_and_padding_ranks_last():
    ranker, _ = ranker_and_features()
    assert ranker.score_range == (-np.inf, np.inf)
    assert ranker.padded_scores[SCORES] == ranker.padded_scores["dot"] == -1e30
