"""The error that a user's settings cause, and its hint at the nearest known word. Laws of all settings are in
`tests/bad_input`."""

import pytest

from schemas.errors import ConfigError
from schemas.languages import LANGUAGES
from schemas.settings import did_you_mean


def test_a_config_error_shows_every_fault_on_a_line():
    error = ConfigError(["data.seed: must be an integer", "loss.kind: unknown"])
    assert str(error).splitlines() == list(error.faults)


@pytest.mark.parametrize(
    ("came", "nearest"), [("eng", "en"), ("fra", "fr"), ("EN", "en"), ("pt-BR", "pt"), ("xx", "xh")]
)
def test_the_nearest_code_begins_like_the_mistaken_one(came: str, nearest: str) -> None:
    assert did_you_mean(came, LANGUAGES) == f"; did you mean {nearest}?"


def test_no_hint_is_better_than_a_wild_guess() -> None:
    assert did_you_mean("tagalog", LANGUAGES) == ""
