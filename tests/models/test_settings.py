"""Settings: what they refuse, and in which words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.choices import ENCODERS, SCORERS
from models.losses.declarations import LOSSES
from models.settings import LARGEST_EPSILON, SMALLEST_EPSILON, LossSettings, ModelSettings
from models.training.settings import FEWEST_EPOCHS, TrainingSettings
from models.tuning.settings import TuningSettings

WITHOUT_THRESHOLDS = [name for name, declaration in LOSSES.items() if declaration.default_theta is None]
EVERY_SECTION = pytest.mark.parametrize("section", [ModelSettings, LossSettings, TrainingSettings, TuningSettings])


def refused(section, **values):
    """The places and messages of the faults."""
    with pytest.raises(ValidationError) as raised:
        section(**values)
    return {".".join(map(str, fault["loc"])): fault["msg"] for fault in raised.value.errors()}


@EVERY_SECTION
def test_defaults_are_valid_and_documented(section):
    section()
    assert all(field.description for field in section.model_fields.values())


@EVERY_SECTION
def test_unknown_key_is_refused(section):
    assert list(refused(section, no_such_key=1)) == ["no_such_key"]


@EVERY_SECTION
def test_settings_are_frozen(section):
    settings = section()
    with pytest.raises(ValidationError, match="frozen"):
        setattr(settings, next(iter(section.model_fields)), 1)


def test_all_faults_are_reported_together():
    assert set(refused(ModelSettings, vocabulary_size=0, epsilon=-1.0)) == {"vocabulary_size", "epsilon"}


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        (ModelSettings, "vocabulary_size", 0),
        (ModelSettings, "vocabulary_size", 2**31),
        (ModelSettings, "embedding_dim", 0),
        (ModelSettings, "embedding_dim", 65_537),
        (ModelSettings, "epsilon", -0.1),
        (ModelSettings, "epsilon", float("nan")),
        (ModelSettings, "epsilon", float("inf")),
        (ModelSettings, "epsilon", 1e-300),
        (ModelSettings, "epsilon", 0.99e-6),
        (ModelSettings, "epsilon", 1.01e6),
        (ModelSettings, "initial_scale", 0.0),
        (ModelSettings, "initial_scale", 1e-13),
        (ModelSettings, "initial_scale", 1e300),
        (ModelSettings, "dropout", -0.1),
        (ModelSettings, "dropout", 1.0),
        (ModelSettings, "dropout", 1 - 1e-16),
        (ModelSettings, "word_dropout", -0.1),
        (ModelSettings, "word_dropout", 1.0),
        (ModelSettings, "similarity", "euclid"),
        (LossSettings, "theta", (0.2, float("nan"))),
        (LossSettings, "softmax_weight", -0.1),
        (LossSettings, "softmax_weight", float("inf")),
        (LossSettings, "softmax_temperature", 0.0),
        (LossSettings, "softmax_top_weight", 0.0),
        (TrainingSettings, "epochs", 0),
        (TrainingSettings, "epochs", 10**20),
        (TrainingSettings, "batch_lists", 0),
        (TrainingSettings, "batch_lists", 2**31),
        (TrainingSettings, "learning_rate", 0.0),
        (TrainingSettings, "learning_rate", 1e-300),
        (TrainingSettings, "learning_rate", 1e39),
        (TrainingSettings, "embedding_factor", 1e-300),
        (TrainingSettings, "embedding_factor", 1e39),
        (TrainingSettings, "learning_rate_decay", 0.0),
        (TrainingSettings, "learning_rate_decay", 1e-300),
        (TrainingSettings, "learning_rate_decay", 1.1),
        (TrainingSettings, "learning_rate_end", 0.0),
        (TrainingSettings, "learning_rate_end", 1.1),
        (TrainingSettings, "clip_norm", 0.0),
        (TrainingSettings, "clip_norm", 1e-300),
        (TrainingSettings, "clip_norm", 1e39),
        (TrainingSettings, "seed", -1),
        (TrainingSettings, "seed", 2**31),
        (TrainingSettings, "best_metric", "ndcg_10"),
        (TrainingSettings, "patience", 0),
        (TrainingSettings, "patience", 2**31),
        (TrainingSettings, "device", "tpu"),
        (TrainingSettings, "replicas", 0),
        (TrainingSettings, "replicas", 257),
        (TrainingSettings, "workers", 0),
        (TrainingSettings, "workers", 65),
    ],
)
def test_value_out_of_range_is_refused_at_its_place(section, field, value):
    assert [place.split(".")[0] for place in refused(section, **{field: value})] == [field]


@pytest.mark.parametrize("epsilon", [1e-300, 1e-7])
def test_an_epsilon_that_float32_would_lose_is_refused_with_its_bounds(epsilon):
    fault = refused(ModelSettings, epsilon=epsilon)["epsilon"]
    assert f"must be 0, or lie in 1e-06 .. 1e+06, so that float32 can add it to norms of 1; got {epsilon}" in fault


@pytest.mark.parametrize("epsilon", [SMALLEST_EPSILON, LARGEST_EPSILON])
def test_the_outermost_epsilons_count_beside_a_norm_of_one_in_float32(epsilon):
    assert ModelSettings(epsilon=epsilon).epsilon == epsilon
    assert np.float32(1) + np.float32(epsilon) not in (np.float32(1), np.float32(epsilon))


def test_unknown_encoder_is_refused_with_the_choices_and_the_nearest():
    fault = refused(ModelSettings, encoder="lstms")["encoder"]
    assert "must be one of mean, cnn, lstm, polynomial; got 'lstms'; did you mean lstm?" in fault


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


@pytest.mark.parametrize(
    ("encoder", "own", "message"),
    [
        ("cnn", {"filter": 9}, "must hold settings of cnn, filters; got 'filter'; did you mean filters?"),
        ("mean", {"units": 9}, "must be empty for mean; got 'units'"),
        ("lstm", {"units": 0}, "units must be greater than or equal to 1; got 0"),
        ("lstm", {"units": True}, "units must not be a truth value"),
        ("lstm", {"units": "many"}, "units must be a valid integer; got 'many'"),
    ],
)
def test_settings_that_the_encoder_has_not_are_refused(encoder, own, message):
    assert message in refused(ModelSettings, encoder=encoder, encoder_settings=own)["encoder_settings"]


@pytest.mark.parametrize("encoder", ["cnn", "lstm", "polynomial"])
@pytest.mark.parametrize(
    ("field", "value", "nothing", "came"),
    [("word_dropout", 0.5, "0", "0.5"), ("stem_embeddings", True, "false", "true"), ("pooling", "idf", "mean", "idf")],
)
def test_what_the_mean_alone_has_is_refused_for_others(encoder, field, value, nothing, came):
    fault = refused(ModelSettings, encoder=encoder, **{field: value})[field]
    assert f"must be {nothing} for {encoder}: it is for the encoder mean alone; got {came}" in fault
    assert getattr(ModelSettings(**{field: value}), field) == value


@pytest.mark.parametrize("encoder", ["mean", "cnn", "lstm"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"terms": "stems"}, "must be words for {}: it is for the encoder polynomial alone; got stems"),
        ({"start": "lexicon"}, "must be random for {}: it is for the encoder polynomial alone; got lexicon"),
    ],
)
def test_what_the_encoder_polynomial_alone_has_is_refused_for_others(encoder, given, message):
    (field,) = given
    assert message.format(encoder) in refused(ModelSettings, encoder=encoder, **given)[field]


def test_the_columns_and_the_idf_that_a_model_needs_follow_from_its_settings():
    def needs(**given):
        model = ModelSettings(**given)
        return model.has_words, model.has_stems, model.has_idf

    assert needs() == (True, False, False)
    assert needs(stem_embeddings=True, pooling="idf") == (True, True, True)
    assert needs(encoder="polynomial") == (True, False, True)
    assert needs(encoder="polynomial", terms="stems") == (False, True, True)


@pytest.mark.parametrize(("encoder", "declaration"), ENCODERS.items())
def test_null_is_the_encoders_own(encoder, declaration):
    assert ModelSettings(encoder=encoder).dropout == declaration.default_dropout
    assert ModelSettings(encoder=encoder).initial_scale == declaration.default_initial_scale
    training = TrainingSettings().for_model(ModelSettings(encoder=encoder))
    assert training.learning_rate == declaration.default_learning_rate
    assert training.learning_rate_decay == declaration.default_learning_rate_decay
    assert training.embedding_factor == declaration.default_embedding_factor


@pytest.mark.parametrize("scorer", ["cossim", "duet_distributed"])
def test_null_is_the_own_of_a_scorer_without_encoders(scorer):
    model, declaration = ModelSettings(scorer=scorer), SCORERS[scorer]
    assert (model.dropout, model.initial_scale) == (declaration.default_dropout, declaration.default_initial_scale)
    training = TrainingSettings().for_model(model)
    assert training.learning_rate_decay == declaration.default_learning_rate_decay
    assert training.embedding_factor == declaration.default_embedding_factor
    assert (model.has_words, model.has_stems, model.has_idf) == (True, False, False)


@pytest.mark.parametrize(
    ("field", "given", "nothing"),
    [
        ("encoder", "cnn", "mean"),
        ("similarity", "dot", "smooth_cosine"),
        ("epsilon", 0.5, "1.0"),
        ("word_dropout", 0.25, "0.0"),
        ("stem_embeddings", True, "false"),
        ("pooling", "idf", "mean"),
        ("terms", "stems", "words"),
        ("start", "lexicon", "random"),
    ],
)
def test_what_two_towers_alone_have_is_refused_for_another_scorer(field, given, nothing):
    fault = refused(ModelSettings, scorer="cossim", **{field: given})[field]
    came = str(given).lower()
    takers = "two_towers, encoder_head" if field in ("similarity", "epsilon") else "two_towers"
    assert f"must be {nothing} for cossim: it is for the scorer {takers} alone; got {came}" in fault


def test_settings_of_the_scorers_own_are_completed():
    assert ModelSettings(scorer="cossim").scorer_settings == {"units": 64, "query_words": 20}
    own = {"filters": 128, "window": 100, "query_words": 20}
    assert ModelSettings(scorer="duet_distributed").scorer_settings == own


@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_is_given_is_kept(encoder):
    assert ModelSettings(encoder=encoder, dropout=0.25).dropout == 0.25
    training = TrainingSettings(learning_rate=0.5, learning_rate_decay=0.75, embedding_factor=2.0)
    assert training.for_model(ModelSettings(encoder=encoder)) == training
    assert [training.learning_rate_in(epoch, 3) for epoch in (1, 2, 3)] == [0.5, 0.5 * 0.75, 0.5 * 0.75**2]


def test_a_null_learning_rate_is_the_callers_slip():
    with pytest.raises(ValueError, match="learning_rate_decay must be a number; got null: `for_model`"):
        TrainingSettings(learning_rate=0.5).learning_rate_in(1, 1)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_learning_rate_that_falls_linearly_has_no_other_decay(encoder):
    falling = TrainingSettings(learning_rate=0.5, learning_rate_end=0.2).for_model(ModelSettings(encoder=encoder))
    assert falling.learning_rate_decay == 1
    assert [falling.learning_rate_in(epoch, 5) for epoch in range(1, 6)] == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1])
    assert TrainingSettings(**falling.model_dump()) == falling


@given(rate=st.floats(1e-12, 1e12), end=st.floats(1e-12, 1), epochs=st.integers(1, 1000))
def test_a_linear_fall_goes_from_the_first_rate_to_its_end(rate, end, epochs):
    falling = TrainingSettings(learning_rate=rate, learning_rate_end=end)
    rates = [falling.learning_rate_in(epoch, epochs) for epoch in range(1, epochs + 1)]
    assert rates[0] == rate
    assert rates == sorted(rates, reverse=True)
    if epochs > 1:
        assert rates[-1] == pytest.approx(rate * end, abs=1e-12 * rate)


def test_a_learning_rate_that_falls_in_two_ways_is_refused():
    (fault,) = refused(TrainingSettings, learning_rate_end=0.05, learning_rate_decay=0.9).values()
    assert "learning_rate_decay must be 1 or null where learning_rate_end is given" in fault
    assert "got 0.9 and 0.05" in fault


@given(lists=st.integers(0, 10**9), more=st.integers(0, 10**9))
def test_epochs_by_the_number_of_lists_are_some_and_the_fewer_the_more_lists_there_are(lists, more):
    by_rule = TrainingSettings(epochs=None)
    assert by_rule.epochs_of(lists) >= by_rule.epochs_of(lists + more) >= FEWEST_EPOCHS
    assert TrainingSettings(epochs=3).epochs_of(lists) == 3


@pytest.mark.parametrize("theta", [(0.7, 0.2), (0.2, 0.2), (-1.0, 0.2), (0.2, 1.0)])
def test_theta_that_does_not_increase_within_minus_one_and_one_is_refused(theta):
    assert f"must increase strictly within (-1, 1); got {list(theta)}" in refused(LossSettings, theta=theta)["theta"]


@pytest.mark.parametrize("name", ["sosl", "mse", "proportional_odds"])
def test_theta_without_a_threshold_is_refused(name):
    fault = refused(LossSettings, name=name, theta=())["theta"]
    assert f"must hold one or more thresholds for {name}; got 0" in fault


@pytest.mark.parametrize("theta", [(), (0.2, 0.7), (0.1, 0.2, 0.3, 0.4)])
def test_theta_of_another_length_than_the_loss_takes_is_refused(theta):
    fault = refused(LossSettings, name="three_part_l2", theta=theta)["theta"]
    assert f"must hold 3 thresholds for three_part_l2; got {len(theta)}" in fault


@pytest.mark.parametrize("name", WITHOUT_THRESHOLDS)
@pytest.mark.parametrize("theta", [(), (0.2, 0.7)])
def test_theta_is_refused_where_the_loss_has_no_thresholds(name, theta):
    fault = refused(LossSettings, name=name, theta=theta)["theta"]
    assert f"must be null for {name}, which has no thresholds; got {list(theta)}" in fault


@pytest.mark.parametrize("name", ["mse", "three_part_l2", *WITHOUT_THRESHOLDS])
def test_learned_thresholds_are_refused_with_the_reason_where_the_loss_cannot_learn_them(name):
    fault = refused(LossSettings, name=name, learn_theta=True)["learn_theta"]
    assert f"must be false for {name}, {LOSSES[name].fixed_theta}; got true" in fault
    assert LossSettings(name=name, learn_theta=False).fault_for(top_grade=2) is None


@pytest.mark.parametrize("name", ["sosl", "proportional_odds"])
def test_sosl_and_proportional_odds_may_learn_their_thresholds(name):
    assert LossSettings(name=name, learn_theta=True).theta == (0.2, 0.7)


@pytest.mark.parametrize("name", LOSSES)
def test_the_documents_of_other_lists_need_a_loss_of_single_documents(name):
    if name not in WITHOUT_THRESHOLDS:
        assert LossSettings(name=name, in_batch=True).is_over_batch
        return
    fault = refused(LossSettings, name=name, in_batch=True)["in_batch"]
    assert f"must be false for {name}, which is a loss of whole lists; got true" in fault
    assert LossSettings(name=name, softmax_weight=0.1).is_over_batch
    assert not LossSettings(name=name).is_over_batch


def test_unknown_loss_is_refused_with_the_choices_and_the_nearest():
    fault = refused(LossSettings, name="hinge")["name"]
    assert f"must be one of {', '.join(LOSSES)}; got 'hinge'; did you mean worst_hinge?" in fault


@pytest.mark.parametrize("name", LOSSES)
def test_loss_without_theta_has_its_own_which_fits_three_grades(name):
    settings = LossSettings(name=name)
    assert settings.theta == LOSSES[name].default_theta
    assert (settings.theta is None) == (name in WITHOUT_THRESHOLDS)
    assert settings.fault_for(top_grade=2) is None


@pytest.mark.parametrize("name", ["sosl", "mse", "proportional_odds"])
def test_bands_need_as_many_thresholds_as_the_top_grade(name):
    theta = (0.1, 0.3, 0.6)
    settings = LossSettings(name=name, theta=theta)
    assert settings.fault_for(top_grade=3) is None
    assert settings.fault_for(top_grade=2) == (
        f"theta must hold as many thresholds as data.top_grade for {name}; got [0.1, 0.3, 0.6] and data.top_grade 2"
    )
    assert "got [0.2, 0.7], its own, and data.top_grade 1" in LossSettings(name=name).fault_for(top_grade=1)


@pytest.mark.parametrize("top_grade", [1, 3])
def test_losses_without_bands_say_which_grades_they_take(top_grade):
    fault = f"three_part_l2 is defined for data.top_grade 2 alone; got {top_grade}"
    assert LossSettings(name="three_part_l2").fault_for(top_grade) == fault
    assert [LossSettings(name=name).fault_for(top_grade) for name in WITHOUT_THRESHOLDS] == [None] * len(
        WITHOUT_THRESHOLDS
    )


def test_batch_that_replicas_do_not_divide_is_refused():
    faults = refused(TrainingSettings, batch_lists=6, replicas=4)
    assert list(faults.values()) == ["Value error, batch_lists must be a multiple of replicas; got 6 and 4"]


def test_batch_that_workers_and_their_replicas_do_not_divide_is_refused():
    faults = refused(TrainingSettings, batch_lists=6, workers=4)
    assert list(faults.values()) == ["Value error, batch_lists must be a multiple of workers; got 6 and 4"]
    faults = refused(TrainingSettings, batch_lists=6, workers=2, replicas=2)
    (fault,) = faults.values()
    assert fault == "Value error, batch_lists must be a multiple of workers x replicas; got 6 and 2 x 2"


def test_replicas_of_workers_on_cpus_are_refused():
    fault = refused(TrainingSettings, device="cpu", workers=2, replicas=3)["workers"]
    assert "must be 1 or null with 3 replicas on CPUs, one to a worker; got 2" in fault
