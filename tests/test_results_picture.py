"""The picture of docs/results.md."""

import re

import pytest

from tools.results_picture import PICTURE, ROOT, results_picture

pytestmark = pytest.mark.tensors


def test_the_picture_shows_what_the_tables_say() -> None:
    assert PICTURE.read_text(encoding="utf-8") == results_picture(), "run python -m tools.results_picture"
    names = {"xquad_en_es_q", "RM3, machine translation", "lexicon", "best", "taught, with E5"}
    assert names <= set(re.findall(r">([^<>]+)</text>", PICTURE.read_text(encoding="utf-8")))
    assert "](images/results.svg)" in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
