"""The laws of the scorers that are not made of encoders: their formulas, training, and what does not count."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from models.exported.export import ExportedEncoder, export_ranker
from models.job import TrainingJob
from models.rankers.duet_distributed import window_maxima
from models.rankers.ranker import Ranker
from models.rankers.scorer import ScorerInputs, Words
from models.rankers.settings import ScorerSettings
from models.training.settings import TrainingSettings
from schemas.word_rules import WordRules
from tests import reference
from tests.models.eagerly import EAGERLY, with_graphs
from tests.models.encoders.reference import encoder_head
from tests.models.encoders.small_encoder import IN_GRAPH, HashedWords, record_of
from tests.models.small_model import features_of, small_text_features
from tests.models.synthetic import ranking_lists

pytestmark = [pytest.mark.tensors, *EAGERLY]

DIM = 3
WORDS = {"embedding_dim": DIM, "initial_scale": 1.0, "query_words": 3}
SMALL = {
    "cossim": {"units": 2, **WORDS},
    "duet_distributed": {"filters": 3, "window": 2, **WORDS},
    "encoder_head": {"penalty": 0.05},
}


def head_of_texts(*weights_and_texts):
    *weights, query, document = weights_and_texts
    return encoder_head(1.0, *weights, vector_of(query), vector_of(document))


FORMULAS = {
    "cossim": lambda *arguments: reference.cos_sim(3, *arguments),
    "duet_distributed": lambda *arguments: reference.duet_distributed(3, 2, *arguments),
    "encoder_head": head_of_texts,
}
LOSS_OF = {"cossim": "worst_hinge", "duet_distributed": "log_likelihood", "encoder_head": "log_likelihood"}
READERS = [name for name in SMALL if ScorerSettings.kinds[name].reads_words]
QUERIES = [[0, 3], [], [1, 1, 2, 3]]
DOCUMENTS = [[1, 1], [4, 0, 2, 2, 5], [5, 2, 3], [], [0]]
LISTED = [[0, 1, 2, 3], [3, 4, 1], [2, 0]]
GRADES = [[2, 1, 0, 0], [0, 2, 1], [1, 2]]
every_scorer = pytest.mark.parametrize("name", SMALL)
every_reader = pytest.mark.parametrize("name", READERS)


def vector_of(tokens):
    """A vector of a text that stands for a pre-trained encoder's; zero for a text without words."""
    random = np.random.default_rng([len(tokens), *tokens])
    return random.normal(size=DIM).astype(np.float32) if tokens else np.zeros(DIM, np.float32)


def lists_of(queries, documents, *places_and_grades):
    """Lists of words, with such vectors."""
    lists = ranking_lists(queries, documents, *places_and_grades)
    lists.query_columns["query_vector"] = tf.constant([vector_of(query) for query in queries])
    lists.document_columns["doc_vector"] = tf.constant([vector_of(document) for document in documents])
    return lists


LISTS = lists_of(QUERIES, DOCUMENTS, LISTED, GRADES)


def scorer_of(name, words=(4, 6), seed=1, vectors=None, **own):
    """A scorer as a configuration makes it."""
    settings = ScorerSettings.model_validate({"kind": name, **SMALL[name], **own})
    query_words, document_words = (Words(number, vectors=vectors) for number in words)
    training = TrainingSettings(seed=seed)
    job = TrainingJob(languages=("en", "fr"), rules=WordRules(), top_grade=2, towers=settings, training=training)
    return settings.load().make(ScorerInputs(name, settings, job, query_words, document_words, _nothing, _nothing))


def _nothing() -> Any:
    raise AssertionError("a trained scorer reads no texts before the training")


def built(name, **arguments):
    """A ranker whose biases are not zero: with these, an empty query's products lie where their maximum has a kink.

    Nor are the maps of the head the identity.
    """
    ranker = Ranker({name: scorer_of(name, **arguments)})
    ranker(LISTS.batch(tf.constant([0]))[0])
    random = np.random.default_rng(2)
    for weight in ranker.weights:
        if len(weight.shape) == 1 or name == "encoder_head":
            weight.assign(weight + random.normal(scale=0.3, size=weight.shape))
    return ranker


@pytest.fixture(scope="module")
def rankers():
    return {name: built(name) for name in SMALL}


def features(rows=(0, 1, 2)):
    return LISTS.batch(tf.constant(rows))[0]


def scores_of_lists(ranker, rows=(0, 1, 2)):
    """The scores of each list's documents, without padding."""
    scores = ranker(features(rows)).numpy()
    return [list_scores[: len(LISTED[row])] for row, list_scores in zip(rows, scores, strict=True)]


def expected_scores(name, weights):
    return [
        [FORMULAS[name](*weights, query, DOCUMENTS[document]) for document in documents]
        for query, documents in zip(QUERIES, LISTED, strict=True)
    ]


def gradients(ranker, factors=1.0):
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(ranker(features()) * factors)
    return [tf.convert_to_tensor(gradient).numpy() for gradient in tape.gradient(value, ranker.trainable_variables)]


def test_every_scorer_without_encoders_is_tested_here():
    assert {*ScorerSettings.kinds} - {"two_towers"} == {*SMALL}


@every_scorer
def test_scores_are_those_of_the_reference(name, rankers):
    scores = scores_of_lists(rankers[name])
    for list_scores, expected in zip(scores, expected_scores(name, rankers[name].get_weights()), strict=True):
        np.testing.assert_allclose(list_scores, expected, rtol=1e-5, atol=1e-6)


@every_scorer
def test_gradients_are_the_slopes_of_the_reference(name, rankers):
    ranker = rankers[name]
    weights = [array.astype(np.float64) for array in ranker.get_weights()]
    factors = np.random.default_rng(3).normal(size=(3, 4))
    for row, documents in enumerate(LISTED):
        factors[row, len(documents) :] = 0
    for number, gradient in enumerate(gradients(ranker, factors.astype(np.float32))):

        def value(array, number=number):
            scores = expected_scores(name, [*weights[:number], array, *weights[number + 1 :]])
            return sum(factors[row, : len(list_scores)] @ list_scores for row, list_scores in enumerate(scores))

        expected = reference.slopes(value, weights[number])
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=2e-5 * np.abs(expected).max())


@every_scorer
def test_the_joint_representations_are_of_the_places_and_the_scores_the_same(name, rankers):
    scores, joint = rankers[name].score_and_join(features())
    np.testing.assert_array_equal(scores, rankers[name](features()))
    columns = tf.constant([[1, 0], [2, 2], [0, 1]])
    parts = joint(columns).numpy()
    assert parts.shape == (3, 2, {"cossim": 3 * 4, "duet_distributed": 3 * 3, "encoder_head": 3 * DIM}[name])
    if name != "duet_distributed":  # the last part's sum is the score
        pair_scores = np.split(parts, 3, axis=-1)[2].sum(axis=-1)
    else:
        layer = rankers[name].channels[name].score_layer
        pair_scores = layer(parts[:, :, 6:]).numpy()[:, :, 0]
    np.testing.assert_allclose(pair_scores, tf.gather(scores, columns, batch_dims=1), atol=1e-6)


@every_reader
def test_dropout_acts_in_training_alone_and_follows_the_seed(name):
    first, again, reseeded = (built(name, dropout=0.4, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first(features()), again(features()))
    assert not np.array_equal(first(features()), reseeded(features()))
    steps = [first(features(), training=True).numpy() for _ in range(2)]
    np.testing.assert_array_equal([again(features(), training=True) for _ in range(2)], steps)
    assert not np.array_equal(*steps)


@every_reader
def test_pretrained_vectors_start_both_tables(name):
    vectors = np.arange(9, dtype=np.float32).reshape(3, 3)
    tables = [weight for weight in built(name, vectors=vectors).weights if "table" in weight.name]
    assert len(tables) == 2
    for table in tables:
        np.testing.assert_array_equal(table[:3], vectors)


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5, 7, 100])
def test_windows_are_all_that_a_text_has_room_for(window):
    values = np.random.default_rng(0).normal(size=(4, 13, 2)).astype(np.float32)
    lengths = [13, 0, 4, 5]
    maxima, text = window_maxima(tf.RaggedTensor.from_tensor(values, lengths=lengths), window)
    for row, length in enumerate(lengths):
        starts = range(max(length - window, 0) + 1)
        expected = [values[row, start : min(start + window, length)].max(axis=0, initial=-9) for start in starts]
        actual = maxima.numpy()[text.numpy() == row]
        np.testing.assert_array_equal(actual, expected if length else np.zeros((1, 2)))


@pytest.mark.stages
@with_graphs()
def test_the_exported_head_scores_as_the_ranker_and_has_its_vectors(tmp_path):
    # The other scorers are exported in `tests/components/trainer/test_presets.py`.
    text_features = small_text_features(tmp_path / "words")
    queries, documents = ["white cat", "dog?"], [["Chat blanc un chien", "chat", ""], ["un chien", "", "mot inconnu"]]
    encoder = ExportedEncoder(record_of(IN_GRAPH), HashedWords())
    batch = features_of(text_features, queries, documents)
    batch["query_vector"] = encoder.graph.vectors(tf.constant(queries), "query")
    batch["doc_vector"] = encoder.graph.vectors(tf.reshape(tf.constant(documents), [-1]), "document")
    ranker = built("encoder_head")
    scores = ranker(batch).numpy()
    export_ranker(ranker, text_features, str(tmp_path / "model"), encoder=encoder)
    signatures = tf.saved_model.load(str(tmp_path / "model")).signatures
    exported = signatures["score"](query=tf.constant(queries), documents=tf.constant(documents))
    assert exported.keys() == {"scores", "encoder_head"}
    np.testing.assert_allclose(exported["scores"], np.where(np.array(documents) == "", -1.0, scores), atol=1e-6)
    query_vectors = signatures["encode_query"](query=tf.constant(queries))["vector"].numpy()
    for row, texts in enumerate(documents):
        vectors = signatures["encode_document"](document=tf.constant(texts))["vector"].numpy()
        np.testing.assert_allclose(vectors @ query_vectors[row], scores[row], atol=1e-6)
