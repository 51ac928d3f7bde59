"""Channels of words that match and of cl_lsi in a SavedModel, beside towers: they score as before the export."""

import time

import numpy as np
import pytest
import tensorflow as tf
from scipy import sparse

from models.evaluation.score_lists import score_lists
from models.exported.export import export_ranker
from models.exported.model import LoadedModel
from models.lexicon.cl_lsi import ClLsi, FoldedTexts
from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import CollectionRecord, Lexicon
from models.rankers.fixed_scores import with_fixed_scores
from models.rankers.ranker import Ranker
from models.texts.tokens import ALL_WORDS
from schemas import features as f
from schemas.word_rules import WordRules
from tests.models.lexicon.small_lexicon import features, make_channel
from tests.models.small_model import features_of, small_text_features, small_towers
from tests.models.synthetic import text_lists

pytestmark = [pytest.mark.stages, pytest.mark.usefixtures("each_model_loaded_once")]

QUERIES = ["white cat", "dog Paris", "!"]
DOCUMENTS = [["Chat blanc", "un chien", ""], ["un chien à Paris", "", "mot inconnu"], ["chat", "Paris", "un"]]
IS_DOCUMENT = np.array(DOCUMENTS) != ""
PAIRS = [("white cat", "chat blanc"), ("dog", "chien"), ("cat", "un chat")]
COLLECTION = ["chat blanc", "un chien", "un chat", "mot"]
RULES = WordRules(max_tokens=8)
LONG = "un chat et un chien, puis UN chien blanc de Paris"
WORDS_WEIGHT = 0.3


def lsi_channel():
    random = np.random.default_rng(1)
    sides = (([b"white", b"cat", b"dog"], "en"), ([b"chat", b"blanc", b"chien", b"paris"], "fr"))
    return ClLsi(
        *(FoldedTexts(terms, random.normal(size=(len(terms), 4)), language, RULES) for terms, language in sides),
        name="lsi",
    )


@pytest.fixture(scope="module", params=[("lexicon", "smooth_cosine", "mean"), ("tfidf", "dot", "cnn")], ids=" ".join)
def exported(request, tmp_path_factory):
    """(the channel of words, ranker, path of its SavedModel, features of its texts). Tracing all takes 5 s."""
    kind, similarity, encoder = request.param
    folder = tmp_path_factory.mktemp("export")
    words = make_channel(learn_lexicon(kind, ("en", "fr"), RULES, PAIRS, COLLECTION))
    towers = small_towers(similarity=similarity, encoder=encoder, initial_scale=1.0)
    channels, weights = {similarity: towers, kind: words}, {similarity: 1.0, kind: WORDS_WEIGHT}
    if kind == "lexicon":
        channels, weights = channels | {"lsi": lsi_channel()}, weights | {"lsi": 0.25}
    ranker = Ranker(channels, weights)
    text_features = small_text_features(folder, rules=RULES)
    batch = features_of(text_features, QUERIES, DOCUMENTS)
    towers(batch)
    export_ranker(ranker, text_features, str(folder / "model"))
    texts = features(QUERIES, [text for texts in DOCUMENTS for text in texts], batch["document_index"])
    return words, ranker, str(folder / "model"), {**batch, **texts}


@pytest.fixture(scope="module")
def model(exported, each_model_loaded_once):
    return LoadedModel(exported[2])


@pytest.fixture(scope="module")
def scores(model):
    columns = model.tensors("score", query=tf.constant(QUERIES), documents=tf.constant(DOCUMENTS))
    return {name: column.numpy() for name, column in columns.items()}


def test_each_channel_scores_as_before_the_export_and_their_weighted_sum_is_the_score(exported, model, scores):
    words, ranker, _, batch = exported
    expected = ranker.score_texts(batch)
    assert scores.keys() == expected.keys() == {"scores", *ranker.channels}
    for name, column in scores.items():
        np.testing.assert_allclose(column[IS_DOCUMENT], expected[name].numpy()[IS_DOCUMENT], atol=1e-6)
    total = sum(weight * scores[name] for name, weight in model.channel_weights.items())
    np.testing.assert_allclose(scores["scores"][IS_DOCUMENT], total[IS_DOCUMENT], atol=1e-6)
    assert scores[words.name][IS_DOCUMENT].max() > 0
    assert (scores[words.name][~IS_DOCUMENT] == -1).all()
    assert (scores["scores"][~IS_DOCUMENT] < ranker.score_range[0]).all()


def test_the_columns_of_the_eval_lists_hold_the_exported_scores(exported):
    _, ranker, path, _ = exported
    lists = text_lists(
        (f"q{row}", query, {f"d{row}{column}": (text, 0) for column, text in enumerate(texts) if text})
        for row, (query, texts) in enumerate(zip(QUERIES, DOCUMENTS, strict=True))
    )
    fixed = [channel for name, channel in ranker.channels.items() if name not in ("smooth_cosine", "dot")]
    with_columns, model_scores = with_fixed_scores(lists, lists, fixed), score_lists(path, lists)
    for channel in fixed:
        column = with_columns.list_columns[f.fixed_score(channel.name)]
        for values, expected in zip(column.to_list(), model_scores[channel.name], strict=True):
            np.testing.assert_allclose(values, expected, atol=1e-6)


def test_the_exported_vectors_and_terms_give_the_score(exported, model):
    query = model.tensors("encode_query", query=tf.constant(QUERIES))
    assert (query["stems"].dtype, query["weights"].dtype) == (tf.string, tf.float32)
    for row, texts in enumerate([[*DOCUMENTS[0][:2], LONG], ["un chien à Paris", "mot inconnu"], ["chat", "un"]]):
        documents = model.tensors("encode_document", document=tf.constant(texts))
        equal = query["stems"][row][:, tf.newaxis] == documents["stems"][:, tf.newaxis, :]
        products = query["weights"][row][:, tf.newaxis] * documents["weights"][:, tf.newaxis, :]
        is_term = (documents["stems"] != "")[:, tf.newaxis]
        words = tf.reduce_sum(tf.where(equal & is_term, products, 0.0), axis=[1, 2]).numpy()
        expected = model.score(QUERIES[row], texts)
        np.testing.assert_allclose(words, expected[exported[0].name], atol=1e-5)
        total = documents["vector"].numpy() @ query["vector"][row].numpy() + WORDS_WEIGHT * words
        np.testing.assert_allclose(total, expected["scores"], atol=1e-5)


def test_words_are_explained_with_their_terms(exported, model):
    explained = model.tensors(
        "explain_words", query=tf.constant("White cats"), document=tf.constant("Chats, \u0640 BLANC")
    )
    stems = {
        "lexicon": ([b"white", b"cat"], [b"chat", b"", b"blanc"]),
        "tfidf": ([b"white", b"cats"], [b"chats", "\u0640".encode(), b"blanc"]),  # words are their own terms
    }[exported[0].name]
    assert (explained["query_stem"].numpy().tolist(), explained["stem"].numpy().tolist()) == stems


def test_the_shares_of_words_sum_to_the_parts_of_channels_whose_vectors_are_sums_over_words(exported, model):
    explanation = model.explain("white cat", LONG)
    parts = {part.name: part.part for part in explanation.parts}
    assert sum(parts.values()) == pytest.approx(model.score("white cat", [LONG])["scores"][0], abs=1e-5)
    shares = [word.dense for word in explanation.words]
    # The reader of the page learns which channel is missing from them.
    assert explanation.without_shares == (() if all(share is not None for share in shares) else tuple(parts)[:-1])
    missing = [note.partition(":")[0] for note in explanation.notes if "not available" in note]
    if exported[0].name == "tfidf":
        assert ({*shares}, missing) == ({None}, ["dot"])
    else:
        assert sum(shares) == pytest.approx(parts["smooth_cosine"] + parts["lsi"], abs=1e-5)
        assert shares[RULES.max_tokens :] == [0] * (len(shares) - RULES.max_tokens)
        assert missing == []


def test_texts_without_words_have_no_terms_and_no_queries_no_scores(model):
    for texts in (["", "!"], []):
        for name, argument in (("encode_query", "query"), ("encode_document", "document")):
            encoded = model.tensors(name, **{argument: tf.constant(texts, tf.string)})
            assert encoded["stems"].shape == encoded["weights"].shape == (len(texts), 0)
            assert encoded["vector"].shape[0] == len(texts)
    columns = model.tensors("score", query=tf.constant([], tf.string), documents=tf.zeros([0, 3], tf.string))
    assert {tuple(column.shape) for column in columns.values()} == {(0, 3)}


def test_nothing_of_the_channels_is_trained_or_saved_but_their_weights(exported):
    words, ranker, path, _ = exported
    saved = [name for name, _ in tf.train.list_variables(f"{path}/variables/variables") if "_CHECKPOINT" not in name]
    assert len(saved) == len(ranker.weights)
    assert words.trainable_weights == []
    assert {weight.ref() for weight in words.weights} <= {weight.ref() for weight in ranker.weights}
    # Terms, fingerprints, idf, words and their stems; T by rows, twice.
    assert len(words.weights) == {"tfidf": 5, "lexicon": 11}[words.name]


@pytest.mark.long
def test_two_hundred_thousand_terms_load_in_seconds(tmp_path):
    count, width = 200_000, 20
    terms = sorted(f"t{number}".encode() for number in range(count))
    random = np.random.default_rng(1)
    rows, columns = np.repeat(np.arange(count // width), width), random.integers(0, count, count)
    table = sparse.csr_matrix((random.random(count), (rows, columns)), shape=(count, count))
    record = CollectionRecord(
        kind="lexicon", query_language="en", document_language="fr", rules=ALL_WORDS, documents=9, mean_length=9.0
    )
    channel = make_channel(Lexicon(record, terms, np.ones(count), table))
    text_features = small_text_features(tmp_path)
    towers = small_towers()
    towers(features_of(text_features, ["cat"], [["chat"]]))
    ranker = Ranker({"smooth_cosine": towers, "lexicon": channel}, {"smooth_cosine": 1.0, "lexicon": 1.0})
    export_ranker(ranker, text_features, str(tmp_path / "model"))
    started = time.process_time()
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    answer = loaded.signatures["score"](query=tf.constant(["t7"]), documents=tf.constant([["t7", "t8"]]))
    assert answer["lexicon"].numpy()[0, 0] > 0
    assert time.process_time() - started < 10
