"""A step of two replicas, with each objective and each scorer."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.adversary_settings import AdversarySettings
from models.layers.settings import MeanSettings
from models.lists.training_batches import training_batches
from models.losses.settings import SoslSettings, WorstHingeSettings
from models.objectives.make_objective import make_objective
from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.training.settings import TrainingSettings
from models.training.steps import TrainingSteps
from tests.models.eagerly import EAGERLY
from tests.models.losses.listwise import make as make_loss
from tests.models.rankers.test_every_scorer import LISTS, LOSS_OF, built
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists
from tests.models.training_job import training_job

pytestmark = [pytest.mark.tensors, *EAGERLY]

BATCHES = np.array([[0, 1], [2, 1]], np.int32)
DOMAINS = ["arts", "news"] * 4
JOBS = {
    "in_batch": training_job(loss=SoslSettings(in_batch=True, softmax_weight=0.5, learn_theta=True)),
    "drawn": training_job(
        loss=WorstHingeSettings(),
        training=TrainingSettings(objective={"kind": "drawn", "documents": 2}),
    ),
    "adversary": training_job(adversary=AdversarySettings(weight=0.5, hidden=4)),
}


def make(name, words=6):
    """An objective of two towers, or of a scorer."""
    if name in LOSS_OF:
        return RankingObjective(built(name), make_loss(LOSS_OF[name]))
    model = TwoTowersSettings(embedding_dim=4, encoder=MeanSettings(initial_scale=1.0))
    towers = TwoTowers(Words(words), Words(words), model, seed=1)
    return make_objective(Ranker({"towers": towers}), JOBS[name], DOMAINS, held_out=1)


@pytest.mark.parametrize("name", ["in_batch", *LOSS_OF])
def test_two_replicas_step_by_the_mean_of_what_each_makes_of_its_own_lists(name, two_replicas):
    batches = [LISTS.batch(tf.constant(rows)) for rows in BATCHES]
    single = make(name)
    single.build(batches[0][0])

    def loss_and_gradients(features, labels):
        with tf.GradientTape() as tape:
            losses = single(features, labels)
            loss = tf.add_n([tf.reduce_mean(values) for values in (losses.losses, *losses.other_terms.values())])
        return float(loss), [tf.convert_to_tensor(part) for part in tape.gradient(loss, single.trainable_variables)]

    (first_loss, first), (second_loss, second) = (loss_and_gradients(*batch) for batch in batches)
    expected = [
        variable - 0.1 * (first_gradient + second_gradient) / 2
        for variable, first_gradient, second_gradient in zip(single.trainable_variables, first, second, strict=True)
    ]
    with two_replicas.scope():
        mirrored = make(name)
        mirrored.build(batches[0][0])
        steps = TrainingSteps(mirrored, keras.optimizers.SGD(0.1), clip_norm=1e6)
        steps.build()
    rows = tf.data.Dataset.from_tensor_slices(BATCHES).map(LISTS.batch)
    figures = steps.run(iter(two_replicas.distribute_datasets_from_function(lambda _: rows)), 1)
    assert figures["loss"] == pytest.approx([(first_loss + second_loss) / 2], rel=1e-4)  # before the step
    for variable, value in zip(mirrored.trainable_variables, expected, strict=True):
        np.testing.assert_allclose(variable, value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["drawn", "adversary"])
def test_replicas_that_draw_documents_of_their_own_keep_equal_copies(name, two_replicas):
    lists = learnable_lists(8, seed=1)
    lists = replace(lists, query_columns={**lists.query_columns, "query_domain": tf.constant(DOMAINS)})
    with two_replicas.scope():
        objective = make(name, VOCABULARY_SIZE)
        objective.build(lists.batch(tf.range(2))[0])
        steps = TrainingSteps(objective, keras.optimizers.SGD(0.5), clip_norm=5.0)
        steps.build()
    before = [variable.numpy() for variable in objective.trainable_variables]
    texts = learnable_lists(8, seed=2).with_random_documents(seed=1) if name == "adversary" else None
    steps.run(training_batches(lists, two_replicas, 1, [1], 8, equal=True, held_out_texts=texts), 1)
    for variable, value in zip(objective.trainable_variables, before, strict=True):
        first, second = two_replicas.experimental_local_results(variable)
        np.testing.assert_array_equal(first, second)
        assert not np.array_equal(first, value)
