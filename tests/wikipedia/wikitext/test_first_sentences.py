"""The first sentences of leads: in the structure of sixteen wikis, and by kind of fault."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from smooth_clir.wikipedia.wikitext.article import read_article
from smooth_clir.wikipedia.wikitext.conventions import conventions_for

HERE = Path(__file__).parent


def content(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def cases() -> Iterator[Any]:
    """All cases; those of a wiki were written by hand before the code was tried on them."""
    for path in sorted((HERE / "first_sentences").glob("*.yaml")):
        yield from (pytest.param(path.stem, case, id=f"{path.stem}: {case['title']}") for case in content(path))
    for kind in content(HERE / "kinds.yaml"):
        yield from (pytest.param(case["language"], case, id=kind["kind"]) for case in kind["cases"])


@pytest.mark.parametrize(("language", "case"), list(cases()))
def test_the_first_sentence_is_the_one_that_a_reader_sees(language: str, case: dict[str, str]) -> None:
    article = read_article(case["wikitext"], case["title"], conventions_for(language, {}))
    assert article.lead[0] == case["sentence"]
