"""A pre-trained encoder beside towers and a lexicon in a SavedModel: in its graph, or outside of it."""

import numpy as np
import pytest
import tensorflow as tf

from models.encoders.encoder_channel import EncoderChannel
from models.encoders.endpoint import EndpointEncoder, fingerprint
from models.encoders.text_vectors import stored_form
from models.evaluation.score_lists import score_lists
from models.exported.export import ExportedEncoder, export_ranker
from models.exported.model import LoadedModel
from models.lexicon.learn_lexicon import learn_lexicon
from models.rankers.ranker import Ranker
from schemas.errors import DataError
from schemas.word_rules import WordRules
from smooth_clir.serving.tf_serving_client import own_columns
from tests.models.encoders.endpoint_server import another_model, listening, sends_vectors_by
from tests.models.encoders.small_encoder import (
    DIM,
    ENDPOINT,
    FILES,
    IN_GRAPH,
    CountingEncoder,
    HashedWords,
    record_of,
    vector_of,
    write_vectors,
)
from tests.models.lexicon.small_lexicon import features, make_channel
from tests.models.small_model import features_of, small_text_features, small_towers
from tests.models.synthetic import text_lists
from tests.reference import smooth_cosine

pytestmark = [pytest.mark.stages, pytest.mark.usefixtures("each_model_loaded_once")]

QUERIES = ["white cat", "dog Paris", "!"]
DOCUMENTS = [["Chat blanc", "un chien", ""], ["un chien à Paris", "", "mot inconnu"], ["chat", "Paris", "un chien"]]
LISTS = {"query": np.array(QUERIES), "documents": np.array(DOCUMENTS, object)}
IS_DOCUMENT = LISTS["documents"] != ""
TEXTS = [text for texts in DOCUMENTS for text in texts]
WEIGHTS = {"smooth_cosine": 1.0, "lexicon": 0.5, "encoder": 0.25}
MEAN, DEVIATION = 0.2, 0.5
PAIRS = [("cat", "chat"), ("dog", "chien")]
PLAIN = {"score", "encode_query", "encode_document"}
TAKE_VECTORS = {f"{name}_with_vectors" for name in PLAIN}
OTHER_SIGNATURES = {
    *("channel_weights", "grade_bands", "count_terms", "explain_words", "words_channel", "collection_statistics"),
    "document_words",
    *("explain", "translate", "own_terms", "known_share", "serving_default", "text_encoder"),
}


@pytest.fixture(scope="module")
def encoder():
    return HashedWords()


@pytest.fixture(scope="module")
def exported(tmp_path_factory, encoder):
    """(ranker, features of its lists, path of the model with its encoder, that of towers and encoder without it)."""
    folder = tmp_path_factory.mktemp("export")
    towers = small_towers(initial_scale=1.0)
    lexicon = make_channel(learn_lexicon("lexicon", ("en", "fr"), WordRules(max_tokens=8), PAIRS, ["un chat"]))
    channel = EncoderChannel(MEAN, DEVIATION, name="encoder")
    ranker = Ranker({"smooth_cosine": towers, "lexicon": lexicon, "encoder": channel}, WEIGHTS)
    text_features = small_text_features(folder, rules=WordRules(max_tokens=8))
    batch = features_of(text_features, QUERIES, DOCUMENTS)
    towers(batch)
    batch |= features(QUERIES, TEXTS, batch["document_index"])
    batch["query_vector"], batch["doc_vector"] = (
        encoder.vectors(tf.constant(texts), role) for texts, role in ((QUERIES, "query"), (TEXTS, "document"))
    )
    paths = str(folder / "with"), str(folder / "without")
    export_ranker(ranker, text_features, paths[0], encoder=ExportedEncoder(record_of(IN_GRAPH), encoder))
    without = Ranker({"smooth_cosine": towers, "encoder": channel}, {"smooth_cosine": 1.0, "encoder": 0.25})
    export_ranker(without, text_features, paths[1], encoder=ExportedEncoder(record_of(FILES), None))
    return ranker, batch, *paths


@pytest.fixture(scope="module")
def model(exported):
    """The model that holds its encoder."""
    return LoadedModel(exported[2])


@pytest.fixture(scope="module")
def vectors(tmp_path_factory, encoder):
    """The encoder's vectors of all texts, as a run keeps them."""
    texts = {"query": QUERIES, "document": [text for text in dict.fromkeys(TEXTS) if text]}
    return write_vectors(tmp_path_factory.mktemp("vectors"), texts, encoder, FILES)


@pytest.fixture(params=["in the graph", "given"])
def any_model(request, exported, model, vectors):
    """The model by the vectors of the encoder that it holds, and by vectors that it is given."""
    return model if request.param == "in the graph" else LoadedModel(exported[2], encoder=vectors)


# Its signatures


def test_a_model_with_its_encoder_takes_texts_alone_or_with_vectors(exported, model, encoder):
    assert model.signatures == PLAIN | TAKE_VECTORS | OTHER_SIGNATURES | {"query_text_vectors", "document_text_vectors"}
    inputs = model._model.signatures["serving_default"].structured_input_signature[1]
    assert {name: spec.dtype for name, spec in inputs.items()} == {"query": tf.string, "documents": tf.string}
    assert model.encoder_record == record_of(IN_GRAPH)
    assert encoder.traces <= 2  # tf.function makes a trace of its own for the first call, which may create variables


def test_a_model_without_its_encoder_takes_texts_with_vectors_alone(exported):
    model = LoadedModel(exported[3])
    assert TAKE_VECTORS <= model.signatures
    assert not model.signatures & {*PLAIN, "query_text_vectors", "document_text_vectors"}
    assert all(model.has(name) for name in PLAIN)
    inputs = model._model.signatures["serving_default"].structured_input_signature[1]
    assert inputs["query_vectors"] == tf.TensorSpec([None, DIM], tf.float32, "query_vectors")
    assert inputs["document_vectors"] == tf.TensorSpec([None, None, DIM], tf.float32, "document_vectors")
    assert model.encoder_record.encoder == FILES


# Its scores


def test_scores_are_those_before_the_export(any_model, exported):
    ranker, batch, *_ = exported
    scores = any_model.call("score", LISTS)
    for name, expected in ranker.score_texts(batch).items():
        np.testing.assert_allclose(
            scores[name][IS_DOCUMENT], expected.numpy()[IS_DOCUMENT], atol=2e-3
        )  # half precision
        assert scores[name][~IS_DOCUMENT].max() < scores[name][IS_DOCUMENT].min()
    assert scores["encoder"][IS_DOCUMENT].std() > 0.1


def test_texts_alone_score_as_with_the_encoder_s_own_vectors(model, encoder):
    rows = {"query": encoder.encode(QUERIES, "query"), "document": model.own_encoder.encode(TEXTS, "document")}
    arguments = {**LISTS, "query_vectors": rows["query"], "document_vectors": rows["document"].reshape([3, 3, DIM])}
    expected = model.call("score", LISTS)
    for name, scores in model._call("score_with_vectors", arguments).items():
        np.testing.assert_allclose(scores, expected[name], atol=1e-6)
    for side, texts in (("query", QUERIES), ("document", TEXTS)):
        arguments = {side: np.array(texts), f"{side}_vectors": rows[side]}
        encoded = model._call(f"encode_{side}_with_vectors", arguments)
        for name, array in model.call(f"encode_{side}", {side: np.array(texts)}).items():
            check = np.testing.assert_allclose if array.dtype == np.float32 else np.testing.assert_array_equal
            check(encoded[name], array)


def test_the_encoder_of_the_graph_gives_its_vectors_of_both_roles_cut_and_with_the_prefix(model, encoder):
    for role in ("query", "document"):
        np.testing.assert_allclose(model.own_encoder.encode(QUERIES, role), encoder.encode(QUERIES, role), rtol=1e-6)
    assert not np.allclose(model.own_encoder.encode(["cat"], "query"), model.own_encoder.encode(["cat"], "document"))
    long = "été " * (IN_GRAPH.max_characters // 4)
    scores = model.score("cat", [f"{long}chat", f"{long}chien", "été chien"])["encoder"]
    assert scores[0] == scores[1] != scores[2]


def test_vectors_that_are_given_stand_in_for_those_of_the_graph(exported):
    counting = CountingEncoder()
    model = LoadedModel(exported[2], encoder=counting)
    query, *documents = (
        vector_of("white cat", "query"),
        vector_of("chat", "document"),
        vector_of("un chien", "document"),
    )
    cosines = np.array([smooth_cosine(query, document, epsilon=0.0) for document in documents])
    scores = model.score("white cat", ["chat", "un chien"])["encoder"]
    np.testing.assert_allclose(scores, (cosines - MEAN) / DEVIATION, rtol=1e-5, atol=1e-5)
    assert counting.seen == {("query", "white cat"): 1, ("document", "chat"): 1, ("document", "un chien"): 1}


def test_the_parts_and_the_inner_product_of_an_index_s_vectors_are_the_score(any_model):
    for query, documents in zip(QUERIES, DOCUMENTS, strict=True):
        texts = [text for text in documents if text]
        scores = any_model.score(query, texts)
        for row, parts in enumerate(any_model.parts(query, texts)):
            assert [part.name for part in parts] == ["encoder", "smooth_cosine", "lexicon"]
            assert sum(part.part for part in parts) == pytest.approx(scores["scores"][row], abs=1e-5)
            assert parts[0].part == pytest.approx(WEIGHTS["encoder"] * scores["encoder"][row], abs=1e-5)
        index = any_model.call("encode_document", {"document": np.array(texts, object)})["vector"]
        expected = sum(WEIGHTS[name] * np.array(scores[name]) for name in ("smooth_cosine", "encoder"))
        np.testing.assert_allclose(index @ any_model.encode_query(query).vector, expected, atol=1e-5)


def test_lists_and_batches_may_be_empty(any_model):
    nothing = {"query": np.array(["white cat"]), "documents": np.zeros([1, 0], object)}
    assert any_model.call("score", nothing)["scores"].shape == (1, 0)
    assert any_model.call("encode_document", {"document": np.zeros([0], object)})["vector"].shape == (0, 2 + DIM + 1)


def test_a_list_that_a_tf_serving_pads_with_zero_vectors_keeps_its_scores(exported, vectors):
    model = LoadedModel(exported[3], encoder=vectors)
    texts = {"query": np.array(QUERIES[:1]), "documents": np.array([DOCUMENTS[0][:2]], object)}
    name, arguments = model._with_vectors("score", texts)
    padding = [(0, 0), (0, 2)]
    padded = {
        **arguments,
        "documents": np.pad(arguments["documents"], padding, constant_values=""),
        "document_vectors": np.pad(arguments["document_vectors"], [*padding, (0, 0)]),
    }
    expected = model._call(name, arguments)
    for channel, scores in own_columns(name, texts, model._call(name, padded)).items():
        np.testing.assert_allclose(scores, expected[channel], atol=1e-6)


# The lists of a run

RUN = text_lists(
    [
        ("q1", "white cat", {"d1": ("Chat blanc", 2), "d2": ("un chien", 0)}),
        ("q2", "dog Paris", {"d2": ("un chien", 2), "d3": ("Paris", 1), "d4": ("chat", 0)}),
    ]
)


def test_the_lists_of_a_run_have_the_same_scores_either_way(exported, vectors, model):
    inside, outside = score_lists(exported[2], RUN), score_lists(exported[2], RUN, encoder=vectors)
    assert inside.keys() == outside.keys() == {"scores", *WEIGHTS}
    for name in inside:
        np.testing.assert_allclose(np.concatenate(inside[name]), np.concatenate(outside[name]), atol=2e-3)
    expected = model.score("white cat", ["Chat blanc", "un chien"])["scores"]
    np.testing.assert_allclose(inside["scores"][0], expected, atol=1e-5)


def test_texts_that_come_again_are_encoded_once_for_all_lists(exported, monkeypatch):
    counting = CountingEncoder()
    monkeypatch.setattr(LoadedModel, "own_encoder", counting)
    score_lists(exported[3], RUN)
    texts = {"query": ("white cat", "dog Paris"), "document": ("Chat blanc", "un chien", "Paris", "chat")}
    assert {key: count for key, count in counting.seen.items() if key[1]} == {
        (role, text): 1 for role in texts for text in texts[role]
    }


# New texts for a model without its encoder


@pytest.mark.parametrize(
    ("ask", "role"),
    [
        (lambda model: model.score("new", ["chat"]), "query"),
        (lambda model: model.encode_query("new"), "query"),
        (lambda model: model.call("encode_document", {"document": np.array(["new"])}), "document"),
    ],
)
def test_a_model_whose_vectors_came_in_files_refuses_a_new_text(exported, ask, role):
    with pytest.raises(DataError, match=f"{role} .*encoder of the kind vectors"):
        ask(LoadedModel(exported[3]))


@pytest.fixture
def endpoint():
    with listening() as server:
        server.answer = sends_vectors_by(lambda text, model: vector_of(text, model).tolist())
        yield server


@pytest.fixture
def asking(exported, endpoint):
    """A model that asks its endpoint for vectors."""
    model = LoadedModel(exported[3])
    settings = ENDPOINT.model_copy(
        update={"address": endpoint.address, "query_model": "query", "document_model": "document"}
    )
    model.encoder_record = record_of(settings, probes=fingerprint(EndpointEncoder(settings).probe()))
    return model


def test_an_endpoint_is_asked_for_new_texts_whose_vectors_are_rounded_as_in_training(asking, endpoint):
    scores = asking.call("score", LISTS)["encoder"]
    for row, column in zip(*np.nonzero(IS_DOCUMENT), strict=True):
        vectors = [vector_of(QUERIES[row], "query"), vector_of(DOCUMENTS[row][column], "document")]
        cosine = smooth_cosine(*stored_form(np.stack(vectors)).astype(np.float64), epsilon=0.0)
        assert scores[row, column] == pytest.approx((cosine - MEAN) / DEVIATION, abs=1e-5)


def test_another_model_at_the_endpoint_is_refused_and_the_right_one_is_taken_afterwards(asking, endpoint):
    right, endpoint.answer = endpoint.answer, another_model
    endpoint.requests.clear()
    for _ in range(2):
        with pytest.raises(DataError, match=f"{endpoint.address} "):
            asking.encode_query("cat")
    assert endpoint.take_texts() == []
    endpoint.answer = right
    assert asking.encode_query("cat").vector.shape == (2 + DIM + 1,)


def test_a_model_without_the_fingerprint_of_its_endpoint_is_refused_and_asks_nothing(asking, endpoint):
    asking.encoder_record = asking.encoder_record.model_copy(update={"probes": ()})
    endpoint.requests.clear()
    with pytest.raises(DataError, match="must hold the fingerprint"):
        asking.encode_query("cat")
    assert not endpoint.requests


# Explanations


def test_the_encoder_has_one_number_and_the_words_keep_their_shares_of_the_towers(any_model):
    explanation = any_model.explain("white cat", "Chat blanc")
    parts = {part.name: part.part for part in explanation.parts}
    assert sum(parts.values()) == pytest.approx(any_model.score("white cat", ["Chat blanc"])["scores"][0], abs=1e-5)
    assert [word.text for word in explanation.words] == ["Chat", "blanc"]
    assert sum(word.dense for word in explanation.words) == pytest.approx(parts["smooth_cosine"], abs=1e-5)
    assert sum(word.lexicon for word in explanation.words) == pytest.approx(parts["lexicon"], abs=1e-5)
    assert explanation.without_shares == ("encoder",)
    assert [note.partition(":")[0] for note in explanation.notes] == ["smooth_cosine", "encoder"]
