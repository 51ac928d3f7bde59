"""First sentences in the structure of sixteen wikis, written by hand before the code was tried on them."""

from pathlib import Path

import pytest
import yaml

from wikipedia.wikitext.article import read_article
from wikipedia.wikitext.conventions import conventions_for

FILES = sorted((Path(__file__).parent / "first_sentences").glob("*.yaml"))
CASES = [
    pytest.param(file.stem, case, id=f"{file.stem}: {case['title']}")
    for file in FILES
    for case in yaml.safe_load(file.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("language", "case"), CASES)
def test_the_first_sentence_is_the_one_that_a_reader_sees(language: str, case: dict[str, str]) -> None:
    article = read_article(case["wikitext"], case["title"], conventions_for(language, {}))
    assert article.lead[0] == case["sentence"]
