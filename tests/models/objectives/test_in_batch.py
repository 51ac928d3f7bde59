"""The terms over all documents of a batch: their values, what they leave out, and a step of several replicas."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.layers.settings import MeanSettings
from models.losses.settings import LossSettings, SoslSettings
from models.objectives.in_batch import InBatchObjective
from models.objectives.make_objective import make_objective
from models.objectives.objective import RankingObjective, make_loss
from models.rankers.ranker import Ranker
from models.rankers.scorer import Bounds, InnerProduct, Scorer, Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from tests import reference
from tests.models.eagerly import EAGERLY
from tests.models.losses.listwise import LOSSES
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists, ranking_lists
from tests.models.training_job import training_job

pytestmark = [pytest.mark.tensors, *EAGERLY]

TOP_GRADE = 2
TERMS = {"in_batch": True, "softmax_weight": 0.5, "softmax_temperature": 0.2, "softmax_top_weight": 3.0}
BOTH = SoslSettings(**TERMS)
WITH_THRESHOLDS = [name for name, settings in LOSSES.items() if settings.thresholds]
WORDS = Words(VOCABULARY_SIZE)


class Given(InnerProduct):
    """Scores that are given: the columns of the queries' vectors, which stand for the documents."""

    @property
    def bounds(self):
        return Bounds(-1.0, 1.0)

    def query_vector(self, features, training=False):
        return features["scores"]

    def document_vector(self, features, training=False):
        return tf.eye(tf.shape(features["scores"])[1])


@st.composite
def batches(draw):
    """(documents of each list, their grades, scores of all documents of the batch for each list)."""
    documents = draw(st.integers(1, 7))
    lists = draw(st.lists(st.permutations(range(documents)), min_size=1, max_size=4))
    lists = [order[: draw(st.integers(0, documents))] for order in lists]
    grades = [draw(st.lists(st.integers(0, TOP_GRADE), min_size=len(row), max_size=len(row))) for row in lists]
    score = st.floats(-1, 1, width=32)
    scores = [draw(st.lists(score, min_size=documents, max_size=documents)) for _ in lists]
    return lists, grades, scores


def padded(rows):
    """Rows as one table, padded with -1 to the longest of them and one place more."""
    width = max(map(len, rows)) + 1
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows])


def made(ranker, settings):
    """The objective of a configuration's loss."""
    return make_objective(ranker, training_job(loss=settings, top_grade=TOP_GRADE))


def losses(settings, lists, grades, scores, domains=None):
    """The objective's results for given scores, as NumPy: (losses, figures)."""
    objective = made(Ranker({"given": Given()}), settings)
    features = {
        "document_index": tf.constant(padded(lists), tf.int32),
        "scores": tf.constant(scores, tf.float32),
        **({} if domains is None else {"query_domain": tf.constant(domains, tf.int32)}),
    }
    total, figures, *_ = objective(features, tf.constant(padded(grades), tf.float32))
    return total.numpy(), {name: figure.numpy() for name, figure in figures.items()}


@pytest.mark.parametrize("name", WITH_THRESHOLDS)
@settings(max_examples=6)
@given(batch=batches())
def test_every_term_is_that_of_the_reference(name, batch):
    theta = LOSSES[name].thresholds
    total, figures = losses(LossSettings.model_validate({"kind": name, **TERMS}), *batch)
    expected = {"own_loss": [], "in_batch_loss": [], "softmax_loss": []}
    for documents, grades, scores in zip(*batch, strict=True):
        own = [scores[document] for document in documents]
        expected["own_loss"].append(reference.loss_of_list(name, grades, own, theta))
        expected["in_batch_loss"].append(reference.in_batch_loss(name, documents, scores, theta))
        expected["softmax_loss"].append(
            reference.softmax_over_batch(dict(zip(documents, grades, strict=True)), scores, TOP_GRADE, 0.2, 3.0)
        )
    assert figures.keys() == expected.keys()
    for term, list_losses in expected.items():
        np.testing.assert_allclose(figures[term], list_losses, rtol=1e-4, atol=1e-5)
    sums = np.array([expected["own_loss"], expected["in_batch_loss"], 0.5 * np.array(expected["softmax_loss"])])
    np.testing.assert_allclose(total, sums.sum(axis=0), rtol=1e-4, atol=1e-5)


@settings(max_examples=12)
@given(batch=batches(), data=st.data())
def test_lists_of_a_domain_have_the_losses_that_they_have_without_those_of_other_domains(batch, data):
    lists, grades, scores = batch
    domains = data.draw(st.lists(st.integers(0, 2), min_size=len(lists), max_size=len(lists)))
    together, batch_figures = losses(BOTH, lists, grades, scores, domains)
    for domain in {*domains}:
        rows = [row for row, row_domain in enumerate(domains) if row_domain == domain]
        documents = sorted({document for row in rows for document in lists[row]})
        if not documents:
            continue
        own, own_figures = losses(
            BOTH,
            [[documents.index(document) for document in lists[row]] for row in rows],
            [grades[row] for row in rows],
            [[scores[row][document] for document in documents] for row in rows],
        )
        np.testing.assert_allclose(together[rows], own, rtol=1e-5, atol=1e-6)
        for name, figure in own_figures.items():
            np.testing.assert_allclose(batch_figures[name][rows], figure, rtol=1e-5, atol=1e-6)


def test_hand_values_of_two_lists():
    # The first list has documents 0 (MR) and 1 (NR) of three, the second documents 2 (SR) and 1 (NR).
    scores = [[0.9, 0.1, 0.5], [0.6, 0.0, 0.3]]
    total, figures = losses(BOTH, [[0, 1], [2, 1]], [[2, 0], [1, 0]], scores)
    np.testing.assert_allclose(figures["own_loss"], [0, 0], atol=1e-7)
    np.testing.assert_allclose(figures["in_batch_loss"], [(0.5 - 0.2) ** 2, (0.6 - 0.2) ** 2], rtol=1e-5)
    softmax = [
        -np.log(np.exp(relevant / 0.2) / np.exp(np.array(row) / 0.2).sum())
        for relevant, row in zip([0.9, 0.3], scores, strict=True)
    ]
    np.testing.assert_allclose(figures["softmax_loss"], softmax, rtol=1e-5)
    np.testing.assert_allclose(total, figures["in_batch_loss"] + 0.5 * np.array(softmax), rtol=1e-5)


def test_a_document_that_stands_twice_in_a_list_is_one_document_of_the_batch():
    scores = [[0.5, 0.3, 0.9]]
    once, twice = (
        losses(BOTH, documents, grades, scores)[1]
        for documents, grades in (
            ([[0, 1]], [[2, 0]]),
            ([[0, 1, 0]], [[2, 0, 2]]),
        )
    )
    for term in ("in_batch_loss", "softmax_loss"):
        np.testing.assert_array_equal(twice[term], once[term])


@pytest.mark.parametrize(
    ("settings", "terms"),
    [
        ({"in_batch": True}, {"own_loss", "in_batch_loss"}),
        ({"softmax_weight": 0.5}, {"own_loss", "softmax_loss"}),
        ({"softmax_weight": 0.5, "kind": "approx_ndcg"}, {"own_loss", "softmax_loss"}),
    ],
)
def test_a_term_that_is_not_asked_for_is_not_there(settings, terms):
    total, figures = losses(
        LossSettings.model_validate(settings), [[0, 1], [2, 1]], [[2, 0], [1, 0]], [[0.9, 0.4, 0.5]] * 2
    )
    assert figures.keys() == terms
    weights = {"own_loss": 1.0, "in_batch_loss": 1.0, "softmax_loss": 0.5}
    np.testing.assert_allclose(total, sum(weights[term] * figures[term] for term in terms), rtol=1e-6)


def test_neither_option_is_the_papers_objective():
    assert type(made(Ranker({"given": Given()}), SoslSettings())) is RankingObjective


# With two towers

MODEL = TwoTowersSettings(embedding_dim=4, encoder=MeanSettings(initial_scale=1.0))


def objective_of(settings=BOTH, model=MODEL):
    return made(Ranker({"smooth_cosine": TwoTowers(WORDS, WORDS, model, seed=1)}), settings)


def gradients(objective, features, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(objective(features, labels).losses)
    return [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, objective.trainable_variables)]


@pytest.mark.parametrize("similarity", ["smooth_cosine", "cosine", "dot"])
def test_the_own_loss_is_the_loss_of_the_rankers_own_scores(similarity):
    objective = objective_of(model=MODEL.model_copy(update={"similarity": similarity}))
    features, labels = learnable_lists(6, seed=1).batch(tf.range(6))
    expected = make_loss(BOTH, TOP_GRADE)(labels, objective.ranker(features))
    np.testing.assert_allclose(objective(features, labels).figures["own_loss"], expected, rtol=1e-5, atol=1e-6)


def test_padded_places_change_neither_the_losses_nor_the_gradients():
    objective = objective_of()
    features, labels = learnable_lists(6, seed=1).batch(tf.range(6))
    wider = {**features, "document_index": tf.pad(features["document_index"], [[0, 0], [0, 3]], constant_values=-1)}
    padded_labels = tf.pad(labels, [[0, 0], [0, 3]], constant_values=-1.0)
    np.testing.assert_array_equal(objective(wider, padded_labels).losses, objective(features, labels).losses)
    for with_padding, without in zip(
        gradients(objective, wider, padded_labels), gradients(objective, features, labels), strict=True
    ):
        np.testing.assert_allclose(with_padding, without, atol=1e-7)


def test_gradients_are_finite_for_texts_without_words_and_lists_without_a_relevant_document():
    lists = ranking_lists([[0], [], [1]], [[0], [], [1], [2]], [[0, 1], [1, 2], [3]], [[2, 0], [1, 0], [0]])
    assert all(np.isfinite(gradient).all() for gradient in gradients(objective_of(), *lists.batch(tf.range(3))))


class NoProduct(Scorer):
    """A scorer that has no vectors."""

    @property
    def bounds(self):
        return Bounds(0.0, 1.0)

    def call(self, features, training=False):
        return tf.zeros_like(features["document_index"], tf.float32)


def test_a_score_that_is_no_inner_product_is_refused():
    with pytest.raises(ValueError, match="got overlap"):
        InBatchObjective(Ranker({"overlap": NoProduct()}), make_loss(BOTH, TOP_GRADE), BOTH, TOP_GRADE)
