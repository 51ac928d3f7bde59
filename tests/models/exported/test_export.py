"""The SavedModel: it scores as the ranker does, and holds nothing that serving does not need."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from models.choices import ENCODERS
from models.evaluation.relevance_shares import RelevanceShares
from models.exported.export import export_ranker
from models.exported.model import LoadedModel
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from tests.models.small_model import export_small_model, features_of, small_text_features, small_towers

pytestmark = pytest.mark.stages

EPSILON, DIM = 0.5, 4
THETA = (0.25, 0.5)
PADDED_SCORES = {"smooth_cosine": -1, "cosine": -1, "dot": -DIM - 1}
UNBOUNDED = np.float32(-1e30)
"""The score of padding where an encoder's vectors have no bound."""
QUERIES = ["white cat", "dog?"]
DOCUMENTS = [["Chat blanc", "un chien", ""], ["un chien", "", "mot inconnu"]]


OF_VARIANTS = {
    "with stems": {"stem_embeddings": True, "word_dropout": 0.25},
    "stems alone": {"terms": "stems"},
    "cubic": {"encoder_settings": {"degree": 3}},
}


@pytest.fixture(
    scope="module",
    params=[
        *((name, "smooth_cosine", "one device") for name in ENCODERS),
        *(("mean", name, "one device") for name in ("cosine", "dot")),
        ("mean", "dot", "two replicas"),
        ("mean", "smooth_cosine", "with stems"),
        ("polynomial", "dot", "stems alone"),
        ("polynomial", "dot", "cubic"),
    ],
    ids=" ".join,
)
def exported(request, two_replicas, tmp_path_factory):
    """(ranker's scores, path of its SavedModel, name of its channel, shapes of its weights, is a sum over words, score
    of padding)."""
    encoder, similarity, variant = request.param
    folder = tmp_path_factory.mktemp("export")
    strategy = two_replicas if variant == "two replicas" else tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        text_features = small_text_features(folder, "stems" in variant)
        towers = small_towers(
            encoder=encoder,
            dropout=0.4,
            embedding_dim=DIM,
            similarity=similarity,
            epsilon=EPSILON,
            initial_scale=1.0,
            **OF_VARIANTS.get(variant, {}),
        )
        ranker = Ranker({similarity: towers})
        ranker.compile(optimizer=LazyAdam())
        scores = ranker(features_of(text_features, QUERIES, DOCUMENTS))
        ranker.optimizer.build(ranker.trainable_variables)
    path = str(folder / "model")
    export_ranker(ranker, text_features, path, THETA)
    shapes = [list(weight.shape) for weight in ranker.weights]
    is_sum = encoder in ("mean", "polynomial") and variant != "cubic"
    padded = UNBOUNDED if ENCODERS[encoder].largest_component > 1 and similarity == "dot" else PADDED_SCORES[similarity]
    return scores.numpy(), path, similarity, shapes, is_sum, padded


@pytest.fixture(scope="module")
def expected(exported):
    return np.where(np.array(DOCUMENTS) == "", exported[5], exported[0])


@pytest.fixture(scope="module")
def signatures(exported):
    loaded = tf.saved_model.load(exported[1])
    yield loaded.signatures  # which do not keep `loaded` alive


@pytest.mark.parametrize("name", ["serving_default", "score"])
def test_exported_score_is_the_rankers_and_no_documents_is_less_than_that_of_padding(signatures, expected, name):
    scores = signatures[name](query=tf.constant(QUERIES), documents=tf.constant(DOCUMENTS))["scores"]
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_the_one_channels_scores_stand_beside_the_sum_which_they_are(signatures, exported):
    scores = signatures["score"](query=tf.constant(QUERIES), documents=tf.constant(DOCUMENTS))
    assert scores.keys() == {"scores", exported[2]}
    np.testing.assert_array_equal(scores["scores"], scores[exported[2]])


def test_inner_product_of_the_encoded_query_and_document_is_the_score(signatures, exported):
    query = signatures["encode_query"](query=tf.constant(QUERIES))["vector"].numpy()
    for row, documents in enumerate(DOCUMENTS):
        vectors = signatures["encode_document"](document=tf.constant(documents))["vector"].numpy()
        assert vectors.shape == (len(documents), DIM)
        np.testing.assert_allclose(vectors @ query[row], exported[0][row], atol=1e-6)


def explain_words(signatures, query, document):
    found = signatures["explain_words"](query=tf.constant(query), document=tf.constant(document))
    return {name: column.numpy().tolist() for name, column in found.items()}


def test_words_are_reported_with_their_places_in_both_texts(signatures):
    found = explain_words(signatures, "White, cat?", "Un «Chat» blanc 1½.")
    assert found["token"] == [b"un", b"chat", b"blanc", b"1", b"1", b"2"]
    assert (found["start"], found["end"]) == ([0, 5, 12, 18, 19, -1], [2, 9, 17, 19, 21, -1])
    assert found["query_token"] == [b"white", b"cat"]
    assert (found["query_start"], found["query_end"]) == ([0, 7], [5, 10])
    assert found["is_scored"] == [True] * 6
    assert (found["stem"], found["query_stem"]) == ([b""] * 6, [b""] * 2)  # no channel of words that match


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("document", ["Chat blanc", "un chien, un chat!", "mot inconnu", "", "blanc zzz blanc blancs"])
def test_the_shares_of_words_add_up_to_the_score_where_the_encoding_is_a_sum_over_words(
    signatures, exported, query, document
):
    found = explain_words(signatures, query, document)
    assert ("dense" in found) == exported[4]
    if not exported[4]:
        return
    # The empty text would be padding.
    score = signatures["score"](query=tf.constant([query]), documents=tf.constant([[document or " "]]))["scores"]
    assert sum(found["dense"]) == pytest.approx(float(score[0, 0]), abs=1e-5)
    assert not any(share for share, word in zip(found["dense"], found["token"], strict=True) if word == b"zzz")


def test_the_thresholds_are_reported_as_they_are_given(signatures):
    assert signatures["grade_bands"]()["theta"].numpy().tolist() == list(THETA)


def test_a_loss_without_thresholds_has_no_bands(tmp_path):
    export_small_model(tmp_path / "model")
    theta = tf.saved_model.load(str(tmp_path / "model")).signatures["grade_bands"]()["theta"]
    assert (theta.shape, theta.dtype) == ((0,), tf.float32)


def test_the_shares_of_relevant_documents_are_reported_as_they_were_fitted(tmp_path):
    shares = RelevanceShares((0.0, 0.5, 1.0), (0.0, 0.25, 0.75), 0.5, 0.625, 0.125, 192)
    export_small_model(tmp_path / "model", relevance=shares)
    model = LoadedModel(str(tmp_path / "model"))
    assert model.relevance == shares
    assert model.relevant_share(0.75) == 0.5


def test_a_model_without_shares_says_nothing_of_them(tmp_path):
    export_small_model(tmp_path / "model")
    model = LoadedModel(str(tmp_path / "model"))
    assert not model.has("relevance")
    assert model.relevance is model.relevant_share(0.75) is model.why_no_good_answer("cat", [-1.0]) is None


def test_document_without_known_words_scores_zero(signatures):
    scores = signatures["score"](query=tf.constant(["cat"]), documents=tf.constant([["mot inconnu", " "]]))["scores"]
    assert scores.numpy().tolist() == [[0, 0]]


def test_no_queries_have_no_scores(signatures):
    scores = signatures["score"](query=tf.constant([], tf.string), documents=tf.zeros([0, 3], tf.string))["scores"]
    assert scores.shape == (0, 3)


def test_saved_model_holds_the_weights_and_no_optimizer(exported):
    variables = [shape for name, shape in tf.train.list_variables(f"{exported[1]}/variables/variables") if shape]
    assert sorted(variables) == sorted(exported[3])


def test_saved_model_draws_nothing_at_random(exported):
    graph = (Path(exported[1]) / "saved_model.pb").read_bytes()
    assert b"SegmentMean" in graph or b"MatMul" in graph
    assert b"Random" not in graph and b"Rng" not in graph
