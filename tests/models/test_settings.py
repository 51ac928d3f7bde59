"""The meaning of the settings of the model, its loss and its training. Their rules are in `tests/bad_input`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.layers.settings import (
    CnnSettings,
    LstmSettings,
    MeanSettings,
    PolynomialSettings,
    Reading,
    TextEncoderSettings,
)
from models.losses.settings import LossSettings
from models.rankers.settings import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    CosSimSettings,
    DuetSettings,
    EncoderHeadSettings,
    ScorerSettings,
    TwoTowersSettings,
)
from models.training.settings import MIN_EPOCHS, TrainingSettings


@pytest.mark.parametrize("epsilon", [SMALLEST_EPSILON, LARGEST_EPSILON])
def test_the_outermost_epsilons_count_beside_a_norm_of_one_in_float32(epsilon):
    assert TwoTowersSettings(epsilon=epsilon).epsilon == epsilon
    assert np.float32(1) + np.float32(epsilon) not in (np.float32(1), np.float32(epsilon))


@pytest.mark.parametrize(
    "complete",
    [
        MeanSettings(initial_scale=0.1, dropout=0),
        CnnSettings(filters=300, initial_scale=0.1, dropout=0.4),
        LstmSettings(units=64, initial_scale=0.1, dropout=0.4),
        PolynomialSettings(degree=2, initial_scale=0.03, dropout=0),
        CosSimSettings(units=64, query_words=20, initial_scale=0.1, dropout=0),
        DuetSettings(filters=128, window=100, query_words=20, initial_scale=0.03, dropout=0),
    ],
    ids=lambda complete: complete.kind,
)
def test_settings_of_a_kind_s_own_are_completed(complete):
    base = TextEncoderSettings if isinstance(complete, TextEncoderSettings) else ScorerSettings
    assert base.model_validate(complete.kind) == complete


def test_the_columns_and_the_idf_that_towers_need_follow_from_their_settings():
    assert TwoTowersSettings().reads == CosSimSettings().reads == Reading(words=True, stems=False, idf=False)
    assert EncoderHeadSettings().reads == Reading(words=False, stems=False, idf=False)
    assert MeanSettings(stem_embeddings=True, pooling="idf").reads == Reading(words=True, stems=True, idf=True)
    assert TwoTowersSettings.with_encoder("polynomial").reads == Reading(words=True, stems=False, idf=True)
    assert PolynomialSettings(terms="stems").reads == Reading(words=False, stems=True, idf=True)


OWN = ("learning_rate", "learning_rate_decay", "embedding_factor")


@pytest.mark.parametrize(
    ("towers", "own"),
    [
        (TwoTowersSettings.with_encoder("mean"), (0.1, 1.0, 1.0)),
        (TwoTowersSettings.with_encoder("cnn"), (0.001, 0.95, 30.0)),
        (TwoTowersSettings.with_encoder("lstm"), (0.001, 0.95, 30.0)),
        (TwoTowersSettings.with_encoder("polynomial"), (0.002, 1.0, 1.0)),
        (CosSimSettings(), (0.001, 0.95, 30.0)),
        (DuetSettings(), (0.001, 0.95, 30.0)),
        (EncoderHeadSettings(), (0.001, 1.0, 1.0)),
    ],
)
def test_null_is_the_own_of_the_encoder_or_of_the_scorer_and_what_is_given_is_kept(towers, own):
    training = TrainingSettings().for_towers(towers)
    assert tuple(getattr(training, name) for name in OWN) == own
    complete = TrainingSettings(learning_rate=0.5, learning_rate_decay=0.75, embedding_factor=2.0)
    assert complete.for_towers(towers) == complete
    falling = TrainingSettings(learning_rate=0.5, learning_rate_end=0.2).for_towers(towers)
    assert falling.learning_rate_decay == 1
    assert [falling.learning_rate_in(epoch, 5) for epoch in range(1, 6)] == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1])


def test_the_learning_rate_decays_by_its_factor():
    training = TrainingSettings(learning_rate=0.5, learning_rate_decay=0.75)
    assert [training.learning_rate_in(epoch, 3) for epoch in (1, 2, 3)] == [0.5, 0.5 * 0.75, 0.5 * 0.75**2]
    with pytest.raises(ValueError, match="learning_rate_decay"):
        TrainingSettings(learning_rate=0.5).learning_rate_in(1, 1)


@given(rate=st.floats(1e-12, 1e12), end=st.floats(1e-12, 1), epochs=st.integers(1, 1000))
def test_a_linear_fall_goes_from_the_first_rate_to_its_end(rate, end, epochs):
    falling = TrainingSettings(learning_rate=rate, learning_rate_end=end)
    rates = [falling.learning_rate_in(epoch, epochs) for epoch in range(1, epochs + 1)]
    assert rates[0] == rate
    assert rates == sorted(rates, reverse=True)
    if epochs > 1:
        assert rates[-1] == pytest.approx(rate * end, abs=1e-12 * rate)


@given(lists=st.integers(0, 10**9), more=st.integers(0, 10**9))
def test_epochs_by_the_number_of_lists_are_some_and_the_fewer_the_more_lists_there_are(lists, more):
    by_rule = TrainingSettings(epochs=None)
    assert by_rule.epochs_of(lists) >= by_rule.epochs_of(lists + more) >= MIN_EPOCHS
    assert TrainingSettings(epochs=3).epochs_of(lists) == 3


@pytest.mark.parametrize("name", LossSettings.kinds)
def test_a_loss_without_theta_has_its_own_which_fits_three_grades(name):
    settings = LossSettings.model_validate(name)
    assert getattr(settings.for_grades(top_grade=2), "theta", None) == settings.thresholds
    assert settings.fault_for(top_grade=2) is None
    with_softmax = LossSettings.model_validate({"kind": name, "softmax_weight": 0.1})
    assert (settings.is_over_batch, with_softmax.is_over_batch) == (False, True)
