"""models/encoders/encoder_head.py: where it starts, and its penalty in the loss.

Its values, gradients, steps and SavedModel are in `tests/models/rankers/test_every_scorer.py`.
"""

import math

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.encoders.encoder_head import EncoderHead
from models.losses.settings import SoslSettings, WorstHingeSettings
from models.objectives.make_objective import make_objective
from models.rankers.ranker import Ranker
from models.rankers.settings import EncoderHeadSettings
from models.training.settings import TrainingSettings
from models.training.steps import TrainingSteps
from tests import reference
from tests.models.encoders.reference import distance_from_identity
from tests.models.encoders.small_encoder import with_vectors
from tests.models.synthetic import ranking_lists
from tests.models.training_job import training_job

pytestmark = pytest.mark.tensors

DIM = 3
LISTED = [[0, 1, 2], [3], [1, 3]]
RANDOM = np.random.default_rng(1)
QUERIES, DOCUMENTS = RANDOM.normal(size=(3, DIM)), RANDOM.normal(size=(4, DIM))
LISTS = with_vectors(ranking_lists([[]] * 3, [[]] * 4, LISTED, [[2, 0, 1], [2], [0, 2]]), QUERIES, DOCUMENTS)
FEATURES, LABELS = LISTS.batch(tf.range(3))
MAPS = RANDOM.normal(size=(2, DIM, DIM), scale=0.3).astype(np.float32)
OBJECTIVES = {
    "lists": (SoslSettings(), TrainingSettings()),
    "in_batch": (SoslSettings(in_batch=True, softmax_weight=0.5), TrainingSettings()),
    "drawn": (WorstHingeSettings(), TrainingSettings(objective={"kind": "drawn", "documents": 2})),
}
each_objective = pytest.mark.parametrize("name", OBJECTIVES)


def ranker_of(penalty=0.0, maps=None, **settings) -> Ranker:
    ranker = Ranker({"head": EncoderHead(EncoderHeadSettings(penalty=penalty, **settings), name="head")})
    ranker(FEATURES)
    if maps is not None:
        ranker.set_weights(maps)
    return ranker


def objective_of(name, penalty, maps=MAPS):
    loss, training = OBJECTIVES[name]
    ranker = ranker_of(penalty, maps)
    return make_objective(ranker, training_job(towers=EncoderHeadSettings(), loss=loss, training=training))


def loss_and_gradients(objective):
    """The sum that a step minimises, and its gradients."""
    with tf.GradientTape() as tape:
        terms = objective(FEATURES, LABELS)
        loss = sum(tf.reduce_mean(term) for term in (terms.losses, *terms.other_terms.values()))
    return float(loss), [gradient.numpy() for gradient in tape.gradient(loss, objective.trainable_variables)]


@pytest.mark.parametrize(
    ("settings", "epsilon"),
    [({"similarity": "cosine"}, 0.0), ({}, 1.0), ({"similarity": "smooth_cosine", "epsilon": 0.25}, 0.25)],
)
def test_it_starts_as_the_encoder_s_own_cosine_smoothed_or_plain(settings, epsilon):
    scores = ranker_of(**settings)(FEATURES).numpy()
    vectors = QUERIES, DOCUMENTS
    for row, documents in enumerate(LISTED):
        for column, document in enumerate(documents):
            cosine = reference.smooth_cosine(vectors[0][row], vectors[1][document], epsilon=0.0)
            assert scores[row, column] == pytest.approx(cosine / (1 + epsilon) ** 2, abs=2e-3)  # of half precision


def test_the_norms_of_the_encoder_s_vectors_do_not_count():
    scaled = {**FEATURES, "query_vector": 7 * FEATURES["query_vector"], "doc_vector": 1e-6 * FEATURES["doc_vector"]}
    ranker = ranker_of(maps=MAPS)
    np.testing.assert_allclose(ranker(scaled), ranker(FEATURES), atol=1e-6)


def test_each_side_has_a_map_of_its_own_as_large_as_a_vector_and_no_other_weight():
    assert [(weight.shape, weight.trainable) for weight in ranker_of().weights] == [((DIM, DIM), True)] * 2


def test_a_cosine_s_range_is_that_of_the_similarity_and_nothing_bounds_an_inner_product():
    assert ranker_of().score_range == ranker_of(similarity="cosine").score_range == (-1, 1)
    dot = ranker_of(similarity="dot", maps=100 * MAPS)
    assert dot.score_range == (-math.inf, math.inf) and dot.theta_ends == (-1, 1)
    assert dot.padded_scores["head"] < dot(FEATURES).numpy().min() < -100


# The penalty


def test_the_penalty_is_the_squared_distance_of_the_maps_from_the_identity_and_0_there():
    assert float(ranker_of(0.5).penalties()["head_penalty"]) == 0
    penalty = ranker_of(0.5, MAPS).penalties()["head_penalty"]
    assert float(penalty) == pytest.approx(0.5 * distance_from_identity(*MAPS), rel=1e-5)


@each_objective
@pytest.mark.parametrize("maps", [MAPS, np.zeros_like(MAPS)], ids=["maps", "identity"])
def test_the_penalty_is_in_the_loss_and_in_its_gradient_whatever_the_objective(name, maps):
    (loss, gradients), (without, free_gradients) = (
        loss_and_gradients(objective_of(name, penalty, maps)) for penalty in (0.5, 0.0)
    )
    assert loss - without == pytest.approx(0.5 * distance_from_identity(*maps), rel=1e-4, abs=1e-6)
    for gradient, free, difference in zip(gradients, free_gradients, maps, strict=True):
        np.testing.assert_allclose(gradient - free, 2 * 0.5 * difference, rtol=1e-4, atol=1e-5)


def test_a_step_minimises_the_sum_and_its_history_has_the_norm_of_each_term_s_gradient():
    objective = objective_of("lists", 0.5)
    loss, gradients = loss_and_gradients(objective_of("lists", 0.5))
    steps = TrainingSteps(objective, keras.optimizers.SGD(0.1), clip_norm=1e6)
    steps.build()
    figures = steps.run(iter(tf.data.Dataset.from_tensors(tf.range(3)).map(LISTS.batch)), 1)
    assert figures["loss"][0] == pytest.approx(loss, rel=1e-5)
    assert figures["head_penalty_gradient_norm"][0] == pytest.approx(np.linalg.norm(MAPS), rel=1e-5)
    assert figures["relevance_gradient_norm"][0] > 0
    for weight, before, gradient in zip(objective.ranker.get_weights(), MAPS, gradients, strict=True):
        np.testing.assert_allclose(weight, before - 0.1 * gradient, rtol=1e-4, atol=1e-5)


# Its settings


def test_the_penalty_is_a_positive_number_unless_it_is_given_and_may_be_0():
    assert EncoderHeadSettings().penalty > 0
    assert EncoderHeadSettings(penalty=0).penalty == 0
    for penalty in (-1e-3, float("inf"), float("nan"), "much"):
        with pytest.raises(ValueError, match="penalty"):
            EncoderHeadSettings(penalty=penalty)
