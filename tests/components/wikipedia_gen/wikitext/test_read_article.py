"""components/wikipedia_gen/wikitext/read_article.py: what a reader sees of a page, in eight wikis' conventions."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.wikipedia_gen.wikitext.conventions import Conventions, conventions_for
from components.wikipedia_gen.wikitext.read_article import MOST_LEAD, Article, read_article
from components.wikipedia_gen.wikitext.skeleton import MOST_OPEN
from components.wikipedia_gen.wikitext.too_costly import Limit, TooCostly

HERE = Path(__file__).parent
NAMESPACES = {
    "en": {6: "File", 14: "Category"},
    "fr": {6: "Fichier", 14: "Catégorie"},
    "de": {6: "Datei", 14: "Kategorie"},
    "ru": {6: "Файл", 14: "Категория"},
    "ar": {6: "ملف", 14: "تصنيف"},
    "ja": {6: "ファイル", 14: "Category"},
    "sw": {6: "Picha", 14: "Jamii"},
    "tl": {6: "Talaksan", 14: "Kategorya"},
}
ENGLISH = conventions_for("en", NAMESPACES["en"])


def examples(name: str) -> list[Any]:
    content: list[Any] = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    return content


LEADS = [
    pytest.param(language, lead, id=f"{language}: {lead['convention']}")
    for language in NAMESPACES
    for lead in examples(f"leads/{language}.yaml")
]


@pytest.mark.parametrize(("language", "lead"), LEADS)
def test_a_lead_in_a_wikis_conventions_gives_the_sentences_that_one_reads(language: str, lead: dict[str, Any]) -> None:
    article = read_article(lead["wikitext"], lead["title"], conventions_for(language, NAMESPACES[language]))
    assert list(article.lead) == lead["lead"]
    space = "" if language == "ja" else " "
    assert article.text == lead.get("text", space.join(lead["lead"]))
    assert article.kind == lead.get("kind", "article")


@pytest.mark.parametrize("page", [pytest.param(one, id=one["case"]) for one in examples("nasty.yaml")])
def test_a_nasty_page_gives_what_one_reads(page: dict[str, str]) -> None:
    assert read_article(page["wikitext"], "Foo", ENGLISH).text == page["text"]
