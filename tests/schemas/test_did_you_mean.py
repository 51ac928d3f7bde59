"""The hint that names the nearest known word."""

import pytest

from schemas.did_you_mean import did_you_mean
from schemas.languages import LANGUAGES


@pytest.mark.parametrize(
    ("came", "nearest"), [("eng", "en"), ("fra", "fr"), ("EN", "en"), ("pt-BR", "pt"), ("xx", "xh")]
)
def test_the_nearest_code_begins_like_the_mistaken_one(came: str, nearest: str) -> None:
    assert did_you_mean(came, LANGUAGES) == f"; did you mean {nearest}?"


def test_no_hint_is_better_than_a_wild_guess() -> None:
    assert did_you_mean("tagalog", LANGUAGES) == ""
