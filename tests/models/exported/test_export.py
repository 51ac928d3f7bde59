"""The SavedModel: it scores as the ranker does, and holds nothing that serving does not need."""

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from models.exported.export import export_ranker
from models.exported.model import LoadedModel
from models.layers.settings import TextEncoderSettings
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from tests.models.loaded_once import model_of_vectors
from tests.models.made_once import made_once
from tests.models.small_model import features_of, small_text_features, small_towers

pytestmark = pytest.mark.stages

EPSILON, DIM = 0.5, 4
THETA = (0.25, 0.5)
PADDED_SCORES = {"smooth_cosine": -1, "cosine": -1, "dot": -DIM - 1}
UNBOUNDED = np.float32(-1e30)
"""The score of padding where an encoder's vectors have no bound."""
QUERIES = ["white cat", "dog?"]
DOCUMENTS = [["Chat blanc", "un chien", ""], ["un chien", "", "mot inconnu"]]
VARIANTS = {
    "with stems": {"stem_embeddings": True, "word_dropout": 0.25},
    "stems alone": {"terms": "stems"},
    "cubic": {"degree": 3},
}


def export(path, encoder, similarity, variant, strategy=None):
    """Writes a ranker's SavedModel, and its scores and the shapes of its weights beside it."""
    with (strategy or tf.distribute.OneDeviceStrategy("/cpu:0")).scope():
        text_features = small_text_features(path.parent, "stems" in variant)
        towers = small_towers(
            encoder=encoder,
            dropout=0.4,
            embedding_dim=DIM,
            similarity=similarity,
            epsilon=EPSILON,
            initial_scale=1.0,
            **VARIANTS.get(variant, {}),
        )
        ranker = Ranker({similarity: towers})
        ranker.compile(optimizer=LazyAdam())
        scores = ranker(features_of(text_features, QUERIES, DOCUMENTS))
        ranker.optimizer.build(ranker.trainable_variables)
    export_ranker(ranker, text_features, str(path), THETA)
    np.save(path.parent / "scores.npy", scores.numpy())
    (path.parent / "shapes.json").write_text(json.dumps([list(weight.shape) for weight in ranker.weights]))


@pytest.fixture(
    scope="module",
    params=[
        ("mean", "smooth_cosine", "with stems"),
        ("cnn", "cosine", "two replicas"),
        ("lstm", "dot", "one device"),
        ("polynomial", "smooth_cosine", "stems alone"),
        ("polynomial", "dot", "cubic"),
    ],
    ids=" ".join,
)
def exported(request, two_replicas, tmp_path_factory):
    """(name of the encoder, similarity, variant, folder of the SavedModel)."""
    path = tmp_path_factory.mktemp("export") / "model"
    if request.param[2] == "two replicas":
        export(path, *request.param, two_replicas)
    else:
        made_once(export, path, *request.param)
    return *request.param, path


@pytest.fixture(scope="module")
def scores(exported):
    """The ranker's own."""
    return np.load(exported[3].parent / "scores.npy")


@pytest.fixture(scope="module")
def model(exported):
    return LoadedModel(str(exported[3]))


@pytest.fixture(scope="module")
def signatures(model):
    return model._model.signatures


def test_the_score_is_the_rankers_and_that_of_its_channel_and_that_of_no_document_is_below_all(
    exported, signatures, scores
):
    encoder, similarity, *_ = exported
    unbounded = TextEncoderSettings.kinds[encoder].largest_component > 1 and similarity == "dot"
    padded = UNBOUNDED if unbounded else PADDED_SCORES[similarity]
    for name in ("serving_default", "score"):
        outputs = signatures[name](query=tf.constant(QUERIES), documents=tf.constant(DOCUMENTS))
        np.testing.assert_allclose(outputs["scores"], np.where(np.array(DOCUMENTS) == "", padded, scores), atol=1e-6)
    assert outputs.keys() == {"scores", similarity}
    np.testing.assert_array_equal(outputs["scores"], outputs[similarity])


def test_inner_product_of_the_encoded_query_and_document_is_the_score(signatures, scores):
    query = signatures["encode_query"](query=tf.constant(QUERIES))["vector"].numpy()
    for row, documents in enumerate(DOCUMENTS):
        vectors = signatures["encode_document"](document=tf.constant(documents))["vector"].numpy()
        assert vectors.shape == (len(documents), DIM)
        np.testing.assert_allclose(vectors @ query[row], scores[row], atol=1e-6)


def explain_words(signatures, query, document):
    outputs = signatures["explain_words"](query=tf.constant(query), document=tf.constant(document))
    return {name: column.numpy().tolist() for name, column in outputs.items()}


def test_words_are_reported_with_their_places_in_both_texts(signatures):
    words = explain_words(signatures, "White, cat?", "Un «Chat» blanc 1½.")
    assert words["token"] == [b"un", b"chat", b"blanc", b"1", b"1", b"2"]
    assert (words["start"], words["end"]) == ([0, 5, 12, 18, 19, -1], [2, 9, 17, 19, 21, -1])
    assert words["query_token"] == [b"white", b"cat"]
    assert (words["query_start"], words["query_end"]) == ([0, 7], [5, 10])
    assert words["is_scored"] == [True] * 6
    assert (words["stem"], words["query_stem"]) == ([b""] * 6, [b""] * 2)  # no channel of words that match


def test_the_shares_of_words_add_up_to_the_score_where_the_encoding_is_a_sum_over_words(exported, model, signatures):
    encoder, similarity, variant, _ = exported
    is_sum = encoder in ("mean", "polynomial") and variant != "cubic"
    for document in ("Chat blanc", "un chien, un chat!", "mot inconnu", "", "blanc zzz blanc blancs"):
        words = explain_words(signatures, "white cat", document)
        assert ("dense" in words) == is_sum
        if is_sum:
            # The empty text would be padding.
            outputs = signatures["score"](query=tf.constant(["white cat"]), documents=tf.constant([[document or " "]]))
            assert sum(words["dense"]) == pytest.approx(float(outputs["scores"][0, 0]), abs=1e-5)
            shares = zip(words["dense"], words["token"], strict=True)
            assert not any(share for share, word in shares if word == b"zzz")
    if not is_sum:
        explained = model.explain("white cat", "un chat")
        assert [(word.text, word.dense, word.lexicon) for word in explained.words] == [
            ("un", None, None),
            ("chat", None, None),
        ]
        assert [note.split(":")[0] for note in explained.notes] == [similarity]


def test_texts_without_known_words_score_zero_and_no_queries_have_no_scores(signatures):
    outputs = signatures["score"](query=tf.constant(["cat"]), documents=tf.constant([["mot inconnu", " "]]))
    assert outputs["scores"].numpy().tolist() == [[0, 0]]
    outputs = signatures["score"](query=tf.constant([], tf.string), documents=tf.zeros([0, 3], tf.string))
    assert outputs["scores"].shape == (0, 3)


def test_the_saved_model_holds_the_weights_and_thresholds_no_optimizer_and_draws_nothing(exported, signatures):
    path: Path = exported[3]
    variables = [shape for _, shape in tf.train.list_variables(str(path / "variables" / "variables")) if shape]
    assert sorted(variables) == sorted(json.loads((path.parent / "shapes.json").read_text()))
    assert signatures["grade_bands"]()["theta"].numpy().tolist() == list(THETA)
    graph = (path / "saved_model.pb").read_bytes()
    assert b"SegmentMean" in graph or b"MatMul" in graph
    assert b"Random" not in graph and b"Rng" not in graph


def test_a_model_without_thresholds_or_shares_of_relevant_documents_says_nothing_of_them():
    model = model_of_vectors()
    assert (model.has("relevance"), model.theta) == (False, ())
    assert model.relevance is model.relevant_share(0.75) is model.why_no_good_answer("cat", [-1.0]) is None
