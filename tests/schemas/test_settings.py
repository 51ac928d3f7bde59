"""The base of all settings, and the error that a user's settings cause."""

import pytest
from pydantic import ValidationError

from schemas.errors import ConfigError
from schemas.languages import LANGUAGES
from schemas.settings import Settings, did_you_mean


class Section(Settings):
    size: int = 1
    """How many."""
    share: float = 0.5
    """How much."""
    anew: bool = False
    """Whether to."""


def test_unknown_keys_and_wrong_values_are_all_reported_together():
    with pytest.raises(ValidationError) as error:
        Section(size="many", share=float("nan"), colour="red")
    assert {fault["loc"] for fault in error.value.errors()} == {("size",), ("share",), ("colour",)}


@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_taken_where_one_is_asked_for(value):
    assert Section(anew=value).anew is value


@pytest.mark.parametrize("field", ["size", "share"])
@pytest.mark.parametrize("value", [True, False])
def test_a_number_is_not_read_from_a_bare_yes_or_no(field, value):
    with pytest.raises(ValidationError, match=f"must not be a truth value .* got {value}"):
        Section(**{field: value})


def test_settings_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Section().size = 2


def test_a_fields_docstring_is_its_documentation():
    assert Section.model_fields["size"].description == "How many."


def test_a_config_error_shows_every_fault_on_a_line():
    error = ConfigError(["data.seed: must be an integer", "loss.name: unknown"])
    assert str(error).splitlines() == list(error.faults)


@pytest.mark.parametrize(
    ("came", "nearest"), [("eng", "en"), ("fra", "fr"), ("EN", "en"), ("pt-BR", "pt"), ("xx", "xh")]
)
def test_the_nearest_code_begins_like_the_mistaken_one(came: str, nearest: str) -> None:
    assert did_you_mean(came, LANGUAGES) == f"; did you mean {nearest}?"


def test_no_hint_is_better_than_a_wild_guess() -> None:
    assert did_you_mean("tagalog", LANGUAGES) == ""
