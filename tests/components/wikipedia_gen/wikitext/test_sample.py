"""The sample's wikitext gives the sample's files; and what differs from another library's plain text."""

import mwparserfromhell
import pytest

from components.wikipedia_gen.wikitext.conventions import conventions_for
from components.wikipedia_gen.wikitext.read_article import read_article
from components.wikipedia_gen.wikitext.without_title import without_title
from tests.components.wikipedia_gen.wikitext.sample import pages, rows

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
        ours = read_article(page.wikitext, page.title, conventions_for(language, {}), max_tokens=None).text
        assert theirs.startswith(ours)
        differences.append(theirs.removeprefix(ours).strip())
    assert all(difference.startswith(other) for difference in differences)
