"""From a configuration to its loss."""

import pytest
import tensorflow as tf

from models.losses.settings import MseSettings, SoslSettings
from models.objectives.objective import make_loss
from tests.models.losses.listwise import LOSSES

pytestmark = pytest.mark.tensors


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_of_a_configuration_gives_one_value_a_list(name):
    values = make_loss(LOSSES[name], 2)(tf.constant([[2.0, 0.0, -1.0], [1.0, 0.0, 0.0]]), tf.zeros([2, 3]))
    assert values.shape == [2]


def test_the_loss_takes_the_thresholds_of_the_configuration():
    settings = SoslSettings(theta=(0.1, 0.4, 0.8))
    # A document of grade 1, between 0.1 and 0.4, at 0.9.
    (value,) = make_loss(settings, top_grade=3)(tf.constant([[1.0]]), tf.constant([[0.9]]))
    assert float(value) == pytest.approx((0.9 - 0.4) ** 2)


@pytest.mark.parametrize("name", LOSSES)
def test_the_scorers_ends_go_to_the_losses_that_have_thresholds(name):
    loss = make_loss(LOSSES[name], 2, ends=(-3.0, 5.0))
    assert getattr(loss, "ends", None) == ((-3.0, 5.0) if LOSSES[name].thresholds else None)


def test_an_nr_document_s_squared_distance_starts_at_the_scorer_s_lower_end():
    (value,) = make_loss(MseSettings(theta=(0.2, 0.7)), 2, ends=(-3.0, 5.0))([[0.0]], tf.constant([[0.0]]))
    assert float(value) == pytest.approx(((-3 + 0.2) / 2) ** 2)
