"""The sample's wikitext gives the links and the plain text of another library."""

import mwparserfromhell
import pytest

from smooth_clir.wikipedia.wikitext.article import read_article
from smooth_clir.wikipedia.wikitext.conventions import conventions_for
from tools.make_sample import SAMPLE, read_pages


@pytest.mark.parametrize("language", ["en", "fr"])
def test_links_and_plain_text_are_those_of_mwparserfromhell(language: str) -> None:
    for page in read_pages(SAMPLE / language):
        parsed = mwparserfromhell.parse(page.wikitext)
        article = read_article(page.wikitext, page.title, conventions_for(language, {}), max_tokens=100_000)
        links = [str(link.title) for link in parsed.filter_wikilinks()]
        assert list(article.link_targets) == list(dict.fromkeys(links))
        assert article.text == " ".join(str(parsed.strip_code()).split())
