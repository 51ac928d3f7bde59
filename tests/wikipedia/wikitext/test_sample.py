"""The sample's wikitext gives the sample's files, and the plain text of another library."""

import re
from pathlib import Path
from typing import NamedTuple

import mwparserfromhell
import pytest

from wikipedia.wikitext.article import read_article
from wikipedia.wikitext.conventions import conventions_for
from wikipedia.wikitext.words import without_title

SAMPLE = Path(__file__).parents[3] / "data" / "sample"


class Page(NamedTuple):
    """A page of the sample."""

    title: str
    wikitext: str


def pages(language: str) -> list[Page]:
    """The pages of a language, in the order of the sample's files; a level-1 heading starts a page."""
    found = []
    for file in sorted((SAMPLE / language).glob("*.wiki")):
        _, *parts = re.split(r"^= (.+?) =$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += [Page(*one) for one in zip(parts[::2], parts[1::2], strict=True)]
    return found


def rows(name: str) -> list[tuple[str, ...]]:
    """The rows of one of the sample's files."""
    lines = (SAMPLE / name).read_text(encoding="utf-8").split("\n")[:-1]
    return [tuple(line.split("\t")) for line in lines]


ENGLISH = conventions_for("en", {6: "File", 14: "Category"})
FRENCH = conventions_for("fr", {6: "Fichier", 14: "Catégorie"})


def test_every_sentence_of_an_english_lead_without_its_title_is_the_samples_query() -> None:
    queries = [
        (page.title, without_title(sentence, [page.title]))
        for page in pages("en")
        for sentence in read_article(page.wikitext, page.title, ENGLISH).lead
    ]
    assert queries == [row[1:] for row in rows("wiki_en.queries")]


def test_every_french_page_is_the_samples_document() -> None:
    documents = [(page.title, read_article(page.wikitext, page.title, FRENCH).text) for page in pages("fr")]
    assert documents == [row[1:] for row in rows("wiki_fr.documents")]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_links_are_those_that_mwparserfromhell_finds(language: str) -> None:
    for page in pages(language):
        expected = [str(link.title) for link in mwparserfromhell.parse(page.wikitext).filter_wikilinks()]
        found = read_article(page.wikitext, page.title, conventions_for(language, {})).link_targets
        assert list(found) == list(dict.fromkeys(expected))


@pytest.mark.parametrize("language", ["en", "fr"])
def test_plain_text_differs_from_mwparserfromhells_in_the_link_to_the_other_language_alone(
    language: str,
) -> None:
    # Its `strip_code` knows no interlanguage links, which a wiki shows beside the text and not in it.
    other = {"en": "fr:", "fr": "en:"}[language]
    differences = []
    for page in pages(language):
        theirs = " ".join(str(mwparserfromhell.parse(page.wikitext).strip_code()).split())
        ours = read_article(page.wikitext, page.title, conventions_for(language, {}), max_tokens=100_000).text
        assert theirs.startswith(ours)
        differences.append(theirs.removeprefix(ours).strip())
    assert all(difference.startswith(other) for difference in differences)
