"""The picture of docs/results.md."""

import re

from tools.results_picture import PICTURE, ROOT, results_picture


def test_the_picture_shows_what_the_tables_say():
    assert PICTURE.read_text(encoding="utf-8") == results_picture(), "run python -m tools.results_picture"
    names = {"ntrex_en_fr", "tico_en_fr", "xquad_en_es_q", "bible_en_fr", "lexicon alone", "closed"}
    assert names <= set(re.findall(r">([^<>]+)</text>", PICTURE.read_text(encoding="utf-8")))
    assert "](images/results.svg)" in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
