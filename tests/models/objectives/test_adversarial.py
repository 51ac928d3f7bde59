"""The adversary: its loss, the reversed gradient, the variables of each update, and what the discriminator learns."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.adversary_settings import AdversarySettings
from models.layers.settings import MeanSettings
from models.layers.smooth_cosine import smooth_unit
from models.lists.training_batches import HELD_OUT_TEXTS, training_batches
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.adversarial import ADVERSARY, AdversarialObjective
from models.objectives.objective import RankingObjective
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.training.steps import TrainingSteps
from tests import reference
from tests.models.eagerly import EAGERLY, with_graphs
from tests.models.synthetic import TOPICS, VOCABULARY_SIZE, learnable_lists, ranking_lists

pytestmark = [pytest.mark.tensors, *EAGERLY]

DIM, HIDDEN = 3, 5
MODEL = TwoTowersSettings(embedding_dim=DIM, encoder=MeanSettings(initial_scale=1.0))
WORDS = Words(VOCABULARY_SIZE)
LISTS = ranking_lists(
    query_tokens=[[0], [1], [2], [3]],
    document_tokens=[[5], [6], [7], [8]],
    # The third list has no NR document, and the fourth no MR document.
    documents=[[1, 0], [2, 3, 1], [3], [0]],
    grades=[[0, 2], [1, 2, 0], [2], [0]],
)
DOMAINS = ["arts", "news", "arts", "arts"]


def with_domains(lists, domains):
    """Lists with their domains."""
    return replace(lists, query_columns={**lists.query_columns, "query_domain": tf.constant(domains)})


BATCH, LABELS = with_domains(LISTS, DOMAINS).batch(tf.range(4))


def make(weight=0.5, domains=DOMAINS, held_out=0, model=MODEL, words=WORDS, **settings):
    """An adversarial objective, built."""
    loss = SmoothOrdinalSearchLoss(reduction=keras.losses.Reduction.NONE)
    objective = RankingObjective(Ranker({"score": TwoTowers(words, words, model, seed=1)}), loss)
    adversary = AdversarySettings(weight=weight, hidden=HIDDEN, **settings)
    adversarial = AdversarialObjective(objective, adversary, domains, held_out, seed=1)
    adversarial.build(BATCH)
    return adversarial


def joint(adversarial, query, document):
    """[q; d; q * d] of a query and a document of one word each."""
    towers = adversarial.ranker.channels["score"]
    q, d = (
        smooth_unit(encoder(tf.ragged.constant([[word]])), MODEL.epsilon)[0].numpy().astype(np.float64)
        for encoder, word in ((towers.query_encoder, query), (towers.document_encoder, document))
    )
    return np.concatenate([q, d, q * d])


def expected_loss(adversarial, query, document, domain):
    """-log p(domain | q, d) in float64."""
    first, bias, last, last_bias = (variable.numpy() for variable in adversarial.discriminator.trainable_variables)
    return reference.domain_loss(joint(adversarial, query, document), (first, bias, last, last_bias), domain)


def terms(adversarial, batch=BATCH, labels=LABELS):
    """The two terms of a batch's loss: (L_rel, weight * L_adv)."""
    losses = adversarial(batch, labels)
    return tf.reduce_mean(losses.losses), tf.reduce_mean(losses.other_terms[ADVERSARY])


def test_the_discriminator_s_loss_is_that_of_the_mr_document_and_an_nr_document():
    adversarial = make(weight=0.25)
    losses = adversarial(BATCH, LABELS)
    expected = [
        expected_loss(adversarial, 0, 5, 0) + expected_loss(adversarial, 0, 6, 0),
        expected_loss(adversarial, 1, 8, 1) + expected_loss(adversarial, 1, 6, 1),
        expected_loss(adversarial, 2, 8, 0),
        expected_loss(adversarial, 3, 5, 0),
    ]
    np.testing.assert_allclose(losses.other_terms[ADVERSARY], 0.25 * np.array(expected), rtol=1e-5)
    assert float(losses.figures["domain_loss"]) == pytest.approx(sum(expected) / 6, rel=1e-5)
    assert float(losses.figures["largest_domain_share"]) == pytest.approx(4 / 6)


def test_held_out_texts_have_domains_of_their_own_and_no_other_loss():
    adversarial = make(weight=1.0, held_out=1)
    texts, _ = ranking_lists([[10]], [[11], [12]], [[0, 1]], [[0, 0]]).batch(tf.constant([0]))
    losses = adversarial({**BATCH, HELD_OUT_TEXTS: texts}, LABELS)
    expected = expected_loss(adversarial, 10, 11, 2) + expected_loss(adversarial, 10, 12, 2)
    assert losses.losses.shape == [4]
    assert float(losses.other_terms[ADVERSARY][4]) == pytest.approx(expected, rel=1e-5)


def test_an_nr_document_is_drawn_in_each_step():
    lists = with_domains(ranking_lists([[0]], [[5], [6], [7]], [[0, 1, 2]], [[2, 0, 0]]), ["arts"])
    batch, labels = lists.batch(tf.constant([0]))
    adversarial = make(weight=1.0)
    seen = {round(float(adversarial(batch, labels).other_terms[ADVERSARY][0]), 4) for _ in range(20)}
    top = expected_loss(adversarial, 0, 5, 0)
    assert seen == {round(float(top + expected_loss(adversarial, 0, word, 0)), 4) for word in (6, 7)}


# The reversal


def third_list():
    """The third list alone, whose pairs are not drawn."""
    batch, labels = with_domains(LISTS, DOMAINS).batch(tf.constant([2]))
    return {**batch, "query_domain": tf.constant([0])}, labels


def slopes(adversarial, variable, rows):
    """Finite differences of both terms in each value of some rows of a variable: [2, ...]; zero elsewhere."""
    start, step = variable.numpy(), 1e-2
    slopes = np.zeros([2, *start.shape])
    for cell in product(rows, range(start.shape[1])):
        values = []
        for sign in (1, -1):
            moved = start.copy()
            moved[cell] += sign * step
            variable.assign(moved)
            values.append(np.array(terms(adversarial, *third_list())))
        slopes[(slice(None), *cell)] = (values[0] - values[1]) / (2 * step)
    variable.assign(start)
    return slopes


def test_the_ranker_s_gradient_is_that_of_l_rel_minus_the_weighted_loss_and_the_discriminator_s_is_not_reversed():
    adversarial = make(weight=3.0, words=Words(9))
    variables = adversarial.ranker.channels["score"].document_encoder.table, adversarial.discriminator.last.kernel
    with tf.GradientTape() as tape:
        total = tf.add_n(terms(adversarial, *third_list()))
    table_gradient, kernel_gradient = (tf.convert_to_tensor(part).numpy() for part in tape.gradient(total, variables))
    relevance, adversary = slopes(adversarial, variables[0], [8])  # its only document
    assert np.abs(adversary).max() > 0.05
    np.testing.assert_allclose(table_gradient, relevance - adversary, atol=2e-3)
    np.testing.assert_allclose(kernel_gradient, slopes(adversarial, variables[1], range(HIDDEN))[1], atol=2e-3)


# Steps

TRAIN = with_domains(learnable_lists(32, seed=1), ["arts", "news"] * 16)


def make_steps(adversarial, clip_norm=5.0):
    """The steps of a training, with an optimizer that has moved before, and their batch."""
    steps = TrainingSteps(adversarial, LazyAdam(0.1), clip_norm)
    steps.build()
    return steps


def batches(count, adversarial=None):
    """An iterator of steps of eight lists."""
    strategy = tf.distribute.get_strategy()
    return training_batches(TRAIN, strategy, seed=1, epochs=range(1, count // 4 + 1), batch=8)


def values(variables):
    return [variable.numpy().copy() for variable in variables]


def changed(before, variables):
    """Whether each variable differs from its value before."""
    return [not np.array_equal(value, variable.numpy()) for value, variable in zip(before, variables, strict=True)]


@pytest.mark.parametrize(("updates", "clip_norm"), [("simultaneous", 0.01), ("alternate", 5.0)])
def test_with_weight_0_the_ranker_learns_bit_for_bit_as_without_an_adversary(updates, clip_norm):
    adversarial, plain = (make(weight=0.0, domains=TRAIN.domains, updates=updates) for _ in range(2))
    make_steps(adversarial, clip_norm).run(batches(4), 4)
    make_steps(plain.objective, clip_norm).run(batches(4), 4)
    start = make().ranker.get_weights()
    for beside, alone, first in zip(adversarial.ranker.get_weights(), plain.ranker.get_weights(), start, strict=True):
        np.testing.assert_array_equal(beside, alone)
        assert not np.array_equal(beside, first)


def test_alternate_updates_move_the_discriminator_first_and_each_half_its_own_variables_and_moments_alone():
    adversarial = make(domains=TRAIN.domains, updates="alternate")
    steps = make_steps(adversarial)
    (first,), (second,) = steps._turns
    assert first.optimizer is adversarial.optimizer
    for moved, still in ((first, second), (second, first)):
        own, still_variables = ([*turn.variables, *turn.optimizer.variables] for turn in (moved, still))
        before = values(own), values(still_variables)
        steps._take_turn([moved], *next(batches(4)))
        assert sum(changed(before[0], own)) > len(moved.variables)
        assert not any(changed(before[1], still_variables))


def test_simultaneous_updates_take_both_gradients_of_one_loss():
    together, alternating = (make(domains=TRAIN.domains, updates=updates) for updates in ("simultaneous", "alternate"))
    for adversarial in (together, alternating):
        make_steps(adversarial).run(batches(4), 1)
    same_discriminator = zip(
        together.discriminator.trainable_variables, alternating.discriminator.trainable_variables, strict=True
    )
    for weights, alternating_weights in same_discriminator:
        np.testing.assert_allclose(weights, alternating_weights, rtol=1e-5, atol=1e-6)
    assert any(changed(together.ranker.get_weights(), alternating.ranker.weights))


@with_graphs()
def test_the_discriminator_of_a_frozen_ranker_learns_the_domains_however_small_its_weight():
    # Each domain has half of the topics, and so words of its own.
    lists = with_domains(learnable_lists(40, seed=1), (["arts"] * (TOPICS // 2) + ["news"] * (TOPICS // 2)) * 2)
    adversarial = make(
        weight=1e-4, domains=lists.domains, updates="alternate", model=TwoTowersSettings(embedding_dim=16)
    )
    steps = make_steps(adversarial)
    batch = lists.batch(tf.range(40))
    turn = tf.function(lambda: steps._take_turn(steps._turns[0], *batch), autograph=False)
    figures = [turn() for _ in range(400)]
    losses = [float(turn_figures["domain_loss"]) for turn_figures in figures]
    assert losses[-1] < losses[200] < losses[0]
    assert float(figures[-1]["domain_accuracy"]) > 0.8 > float(figures[-1]["largest_domain_share"])


def test_the_figures_have_the_norms_of_both_gradients_in_the_ranker_s_variables():
    adversarial = make(weight=2.0, domains=TRAIN.domains)
    batch = next(batches(4))
    with tf.GradientTape(persistent=True) as tape:
        losses = adversarial(*batch)
        parts = {"relevance": tf.reduce_mean(losses.losses), ADVERSARY: tf.reduce_mean(losses.other_terms[ADVERSARY])}
    expected = {
        f"{name}_gradient_norm": np.linalg.norm(
            np.concatenate(
                [
                    tf.convert_to_tensor(gradient).numpy().ravel()
                    for gradient in tape.gradient(value, adversarial.ranker.trainable_variables)
                ]
            )
        )
        for name, value in parts.items()
    }
    again = make(weight=2.0, domains=TRAIN.domains)
    figures = make_steps(again)._take_turn(make_steps(again)._turns[0], *batch)
    assert {name: float(figures[name]) for name in expected} == pytest.approx(expected, rel=1e-4)


def test_a_single_domain_is_refused():
    with pytest.raises(ValueError, match="got 1"):
        make(domains=["arts"] * 4)


def test_a_scorer_without_joint_representations_is_refused():
    class Joined(TwoTowers):
        def score_and_join(self, features, training=False):
            return self(features), None

    loss = SmoothOrdinalSearchLoss(reduction=keras.losses.Reduction.NONE)
    objective = RankingObjective(Ranker({"score": Joined(WORDS, WORDS, MODEL)}), loss)
    adversarial = AdversarialObjective(objective, AdversarySettings(weight=1.0), DOMAINS, 0, seed=1)
    with pytest.raises(ValueError, match="joint representations"):
        adversarial.build(BATCH)
