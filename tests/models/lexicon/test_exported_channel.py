"""The channel in a SavedModel: it scores as before the export, and needs nothing but the folder."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf
from scipy import sparse

from models.evaluation.score_lists import score_lists
from models.exported.export import export_ranker
from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import CollectionRecord, Lexicon
from models.rankers.fixed_scores import with_fixed_scores
from models.rankers.ranker import Ranker
from models.texts.tokens import ALL_WORDS
from schemas import features as f
from tests.models.lexicon.small_lexicon import features, make_channel
from tests.models.small_model import features_of, small_text_features, small_towers
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.stages

WEIGHT = 0.3
QUERIES = ["white cat", "dog Paris", "!"]
DOCUMENTS = [["Chat blanc", "un chien", ""], ["un chien à Paris", "", "mot inconnu"], ["chat", "Paris", "un"]]
PAIRS = [("white cat", "chat blanc"), ("dog", "chien"), ("cat", "un chat")]
COLLECTION = ["chat blanc", "un chien", "un chat", "mot"]


@pytest.fixture(
    scope="module",
    params=[("lexicon", "smooth_cosine"), ("bm25", "smooth_cosine"), ("tfidf", "smooth_cosine"), ("lexicon", "dot")],
    ids=" ".join,
)
def exported(request, tmp_path_factory):
    """(channel, ranker, path of its SavedModel, features of its texts)."""
    kind, similarity = request.param
    folder = tmp_path_factory.mktemp("export")
    channel = make_channel(learn_lexicon(kind, ("en", "fr"), ALL_WORDS, PAIRS, COLLECTION))
    towers = small_towers(similarity=similarity, initial_scale=1.0)
    ranker = Ranker({similarity: towers, kind: channel}, {similarity: 1.0, kind: WEIGHT})
    text_features = small_text_features(folder)
    batch = features_of(text_features, QUERIES, DOCUMENTS)
    towers(batch)
    path = str(folder / "model")
    export_ranker(ranker, text_features, path)
    texts = features(QUERIES, [text for texts in DOCUMENTS for text in texts], batch["document_index"])
    return channel, ranker, path, {**batch, **texts}


@pytest.fixture(scope="module")
def signatures(exported):
    loaded = tf.saved_model.load(exported[2])
    yield loaded.signatures  # which do not keep `loaded` alive


def score(signatures):
    found = signatures["score"](query=tf.constant(QUERIES), documents=tf.constant(DOCUMENTS))
    return {name: of_lists.numpy() for name, of_lists in found.items()}


IS_DOCUMENT = np.array(DOCUMENTS) != ""


def test_each_channel_scores_as_before_the_export_and_their_weighted_sum_is_the_score(exported, signatures):
    channel, ranker, _, batch = exported
    found = score(signatures)
    expected = {name: one.numpy() for name, one in ranker.score_texts(batch).items()}
    assert found.keys() == expected.keys() == {"scores", *ranker.channels}
    for name, of_lists in found.items():
        np.testing.assert_allclose(of_lists[IS_DOCUMENT], expected[name][IS_DOCUMENT], atol=1e-6)
    dense = next(iter(ranker.dense))
    total = found[dense] + WEIGHT * found[channel.name]
    np.testing.assert_allclose(found["scores"][IS_DOCUMENT], total[IS_DOCUMENT], atol=1e-6)
    assert found[channel.name][IS_DOCUMENT].max() > 0


def test_padding_scores_below_what_any_document_can(exported, signatures):
    channel, ranker, *_ = exported
    found = score(signatures)
    assert (found[channel.name][~IS_DOCUMENT] == -1).all()
    assert (found["scores"][~IS_DOCUMENT] < ranker.score_range[0]).all()


def test_the_column_of_the_eval_lists_holds_the_exported_scores(exported):
    channel, _, path, _ = exported
    lists = text_lists(
        (f"q{row}", query, {f"d{row}{column}": (text, 0) for column, text in enumerate(texts) if text})
        for row, (query, texts) in enumerate(zip(QUERIES, DOCUMENTS, strict=True))
    )
    column = with_fixed_scores(lists, lists, [channel]).list_columns[f.fixed_score(channel.name)]
    for of_list, exported_scores in zip(column.to_list(), score_lists(path, lists)[channel.name], strict=True):
        np.testing.assert_allclose(of_list, exported_scores, atol=1e-6)


def test_the_exported_vectors_and_terms_give_the_score(exported, signatures):
    channel, *_ = exported
    found = score(signatures)
    asked = signatures["encode_query"](query=tf.constant(QUERIES))
    assert (asked["stems"].dtype, asked["weights"].dtype) == (tf.string, tf.float32)
    for row, texts in enumerate(DOCUMENTS):
        held = signatures["encode_document"](document=tf.constant(texts))
        equal = (asked["stems"][row][:, tf.newaxis] == held["stems"][:, tf.newaxis, :]) & (held["stems"] != "")[:, None]
        products = asked["weights"][row][:, tf.newaxis] * held["weights"][:, tf.newaxis, :]
        words = tf.reduce_sum(tf.where(equal, products, 0.0), axis=[1, 2]).numpy()
        np.testing.assert_allclose(words[IS_DOCUMENT[row]], found[channel.name][row][IS_DOCUMENT[row]], atol=1e-5)
        total = (held["vector"].numpy() @ asked["vector"][row].numpy()) + WEIGHT * words
        np.testing.assert_allclose(total[IS_DOCUMENT[row]], found["scores"][row][IS_DOCUMENT[row]], atol=1e-5)


def test_words_are_explained_with_their_terms(exported, signatures):
    channel, *_ = exported
    found = signatures["explain_words"](query=tf.constant("White cats"), document=tf.constant("Chats, \u0640 BLANC"))
    stems = {
        True: ([b"white", b"cat"], [b"chat", b"", b"blanc"]),
        False: ([b"white", b"cats"], [b"chats", "\u0640".encode(), b"blanc"]),  # words are their own terms
    }[channel.name == "lexicon"]
    assert (found["query_stem"].numpy().tolist(), found["stem"].numpy().tolist()) == stems


def test_texts_without_words_have_no_terms(signatures):
    for texts in (["", "!"], []):
        for name, argument in (("encode_query", "query"), ("encode_document", "document")):
            found = signatures[name](**{argument: tf.constant(texts, tf.string)})
            assert found["stems"].shape == found["weights"].shape == (len(texts), 0)
            assert found["vector"].shape[0] == len(texts)


def test_no_queries_have_no_scores(signatures):
    found = signatures["score"](query=tf.constant([], tf.string), documents=tf.zeros([0, 3], tf.string))
    assert {tuple(of_lists.shape) for of_lists in found.values()} == {(0, 3)}


def test_nothing_of_the_channel_is_trained_or_saved_but_its_weights(exported):
    channel, ranker, path, _ = exported
    saved = [name for name, _ in tf.train.list_variables(f"{path}/variables/variables") if "_CHECKPOINT" not in name]
    assert len(saved) == len(ranker.weights)
    assert channel.trainable_weights == []
    assert {weight.ref() for weight in channel.weights} <= {weight.ref() for weight in ranker.weights}
    assert len(channel.weights) == {"tfidf": 3}.get(channel.name, 9)  # terms, fingerprints and idf; T by rows, twice


@pytest.mark.parametrize("exported", [("lexicon", "smooth_cosine")], ids=" ".join, indirect=True)
def test_a_process_that_knows_nothing_of_us_scores_the_same(exported, signatures, tmp_path):
    script = (
        "import json, sys, tensorflow as tf, tensorflow_text\n"
        "model = tf.saved_model.load(sys.argv[1])\n"
        "texts = [tf.constant(json.loads(one)) for one in sys.argv[2:]]\n"
        "found = model.signatures['score'](query=texts[0], documents=texts[1])\n"
        "print(json.dumps({name: one.numpy().tolist() for name, one in found.items()}))\n"
    )
    arguments = [exported[2], json.dumps(QUERIES), json.dumps(DOCUMENTS)]
    out = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    expected = score(signatures)
    for name, of_lists in json.loads(out).items():
        np.testing.assert_allclose(of_lists, expected[name], atol=1e-6)


@pytest.mark.long
def test_two_hundred_thousand_terms_load_in_seconds(tmp_path):
    count, width = 200_000, 20
    terms = sorted(f"t{number}".encode() for number in range(count))
    random = np.random.default_rng(1)
    rows, columns = np.repeat(np.arange(count // width), width), random.integers(0, count, count)
    table = sparse.csr_matrix((random.random(count), (rows, columns)), shape=(count, count))
    record = CollectionRecord(
        kind="lexicon",
        query_language="en",
        document_language="fr",
        rules=ALL_WORDS,
        documents=9,
        mean_length=9.0,
    )
    channel = make_channel(Lexicon(record, terms, np.ones(count), table))
    text_features = small_text_features(tmp_path)
    towers = small_towers()
    towers(features_of(text_features, ["cat"], [["chat"]]))
    ranker = Ranker({"smooth_cosine": towers, "lexicon": channel}, {"smooth_cosine": 1.0, "lexicon": 1.0})
    export_ranker(ranker, text_features, str(tmp_path / "model"))
    started = time.process_time()
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    found = loaded.signatures["score"](query=tf.constant(["t7"]), documents=tf.constant([["t7", "t8"]]))
    assert found["lexicon"].numpy()[0, 0] > 0
    assert time.process_time() - started < 10
