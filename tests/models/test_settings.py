"""The meaning of the settings of the model, its loss and its training. Their rules are in `tests/bad_input`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.choices import ENCODERS, SCORERS
from models.losses.declarations import LOSSES
from models.settings import LARGEST_EPSILON, SMALLEST_EPSILON, LossSettings, ModelSettings
from models.training.settings import MIN_EPOCHS, TrainingSettings


@pytest.mark.parametrize("epsilon", [SMALLEST_EPSILON, LARGEST_EPSILON])
def test_the_outermost_epsilons_count_beside_a_norm_of_one_in_float32(epsilon):
    assert ModelSettings(epsilon=epsilon).epsilon == epsilon
    assert np.float32(1) + np.float32(epsilon) not in (np.float32(1), np.float32(epsilon))


@pytest.mark.parametrize(
    ("encoder", "own", "complete"),
    [
        ("mean", {}, {}),
        ("cnn", {}, {"filters": 300}),
        ("cnn", {"filters": 9}, {"filters": 9}),
        ("lstm", {}, {"units": 64}),
        ("polynomial", {}, {"degree": 2}),
    ],
)
def test_settings_of_the_encoders_own_are_completed(encoder, own, complete):
    assert ModelSettings(encoder=encoder, encoder_settings=own).encoder_settings == complete


def test_settings_of_the_scorers_own_are_completed():
    assert ModelSettings(scorer="cossim").scorer_settings == {"units": 64, "query_words": 20}
    own = {"filters": 128, "window": 100, "query_words": 20}
    assert ModelSettings(scorer="duet_distributed").scorer_settings == own


def test_the_columns_and_the_idf_that_a_model_needs_follow_from_its_settings():
    def needs(**settings):
        model = ModelSettings(**settings)
        return model.has_words, model.has_stems, model.has_idf

    assert needs() == needs(scorer="cossim") == (True, False, False)
    assert needs(stem_embeddings=True, pooling="idf") == (True, True, True)
    assert needs(encoder="polynomial") == (True, False, True)
    assert needs(encoder="polynomial", terms="stems") == (False, True, True)


OWN = ("learning_rate", "learning_rate_decay", "embedding_factor")


@pytest.mark.parametrize(
    ("settings", "declaration"),
    [
        *(({"encoder": name}, ENCODERS[name]) for name in ENCODERS),
        *(({"scorer": name}, SCORERS[name]) for name in ("cossim", "duet_distributed")),
    ],
)
def test_null_is_the_own_of_the_encoder_or_of_the_scorer_and_what_is_given_is_kept(settings, declaration):
    model = ModelSettings(**settings)
    assert (model.dropout, model.initial_scale) == (declaration.default_dropout, declaration.default_initial_scale)
    training = TrainingSettings().for_model(model)
    assert {name: getattr(training, name) for name in OWN} == {
        name: getattr(declaration, f"default_{name}") for name in OWN
    }
    assert ModelSettings(**settings, dropout=0.25).dropout == 0.25
    complete = TrainingSettings(learning_rate=0.5, learning_rate_decay=0.75, embedding_factor=2.0)
    assert complete.for_model(model) == complete
    falling = TrainingSettings(learning_rate=0.5, learning_rate_end=0.2).for_model(model)
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


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_without_theta_has_its_own_which_fits_three_grades(name):
    settings = LossSettings(name=name)
    assert settings.theta == LOSSES[name].default_theta
    assert settings.fault_for(top_grade=2) is None
    assert (settings.is_over_batch, LossSettings(name=name, softmax_weight=0.1).is_over_batch) == (False, True)
