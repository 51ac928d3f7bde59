"""Settings: what they refuse, and in which words."""

import pytest
from pydantic import ValidationError

from models.settings import LOSSES, LossDeclaration, LossSettings, ModelSettings, TrainingSettings

EVERY_SECTION = pytest.mark.parametrize("section", [ModelSettings, LossSettings, TrainingSettings])


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
        (ModelSettings, "embedding_dim", 0),
        (ModelSettings, "epsilon", -0.1),
        (ModelSettings, "epsilon", float("nan")),
        (ModelSettings, "epsilon", float("inf")),
        (ModelSettings, "initial_scale", 0.0),
        (LossSettings, "theta", (0.2, float("nan"))),
        (TrainingSettings, "epochs", 0),
        (TrainingSettings, "batch_lists", 0),
        (TrainingSettings, "learning_rate", 0.0),
        (TrainingSettings, "clip_norm", 0.0),
        (TrainingSettings, "seed", -1),
        (TrainingSettings, "seed", 2**31),
        (TrainingSettings, "best_metric", "ndcg_10"),
        (TrainingSettings, "patience", 0),
        (TrainingSettings, "device", "tpu"),
        (TrainingSettings, "replicas", 0),
    ],
)
def test_value_out_of_range_is_refused_at_its_place(section, field, value):
    assert [place.split(".")[0] for place in refused(section, **{field: value})] == [field]


@pytest.mark.parametrize("theta", [(0.7, 0.2), (0.2, 0.2), (-1.0, 0.2), (0.2, 1.0)])
def test_theta_that_does_not_increase_within_minus_one_and_one_is_refused(theta):
    assert f"must increase strictly within (-1, 1); got {list(theta)}" in refused(LossSettings, theta=theta)["theta"]


def test_theta_without_a_threshold_is_refused():
    assert "must hold one or more thresholds for this loss; got 0" in refused(LossSettings, theta=())["theta"]


def test_theta_of_another_length_than_the_loss_takes_is_refused(monkeypatch):
    monkeypatch.setitem(LOSSES, "three_grades", LossDeclaration("nowhere.Loss", (0.2, 0.7), 2))
    faults = refused(LossSettings, name="three_grades", theta=(0.1, 0.2, 0.3))
    assert "must hold 2 thresholds for this loss; got 3" in faults["theta"]


def test_unknown_loss_is_refused_with_the_choices():
    fault = refused(LossSettings, name="hinge")["name"]
    assert f"must be one of {', '.join(sorted(LOSSES))}; got 'hinge'" in fault


def test_loss_without_theta_has_its_own():
    settings = LossSettings(name="sosl")
    assert settings.thresholds == LOSSES["sosl"].default_theta
    assert settings.top_grade == len(LOSSES["sosl"].default_theta)


def test_top_grade_is_the_number_of_thresholds():
    assert LossSettings(theta=(0.1, 0.3, 0.6)).top_grade == 3


def test_batch_that_replicas_do_not_divide_is_refused():
    faults = refused(TrainingSettings, batch_lists=6, replicas=4)
    assert list(faults.values()) == ["Value error, batch_lists must be a multiple of replicas; got 6 and 4"]
