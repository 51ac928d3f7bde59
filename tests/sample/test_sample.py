"""The bundled sample: its wikitext pages, the dumps that tools/make_sample.py packs, and the files made of these."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.command import Clir
from tools import make_sample
from tools.make_sample import SAMPLE

MADE = ("wiki_en.queries", "wiki_fr.documents", "en2fr.rel")


class Page(NamedTuple):
    """A page: its plain text, the pages it links to, and its counterpart in the other language."""

    title: str
    text: str
    links: frozenset[str]
    counterpart: str


def plain(page: make_sample.Page) -> Page:
    """A page without its markup, of which the sample has links and bold titles alone."""
    links = re.findall(r"\[\[([^\]|]+)", page.wikitext)
    # MediaWiki ignores the case of a title's first letter.
    targets = frozenset(target[:1].upper() + target[1:] for target in links)
    text = re.sub(r"\[\[(?:[^\]|]+\|)?([^\]]+)\]\]", r"\1", page.wikitext).replace("'''", "")
    return Page(page.title, " ".join(text.split()), targets - {page.title}, page.counterpart)


PAGES = {
    language: {page.title: plain(page) for page in make_sample.read_pages(SAMPLE / language)}
    for language in ("en", "fr")
}


def sentences(text: str) -> list[str]:
    """The sentences of a text in either language."""
    return re.split(r"(?<=[.!?]) (?=[A-ZÀ-ÖØ-ÞŒ«])", text)


def test_the_committed_dumps_are_what_the_pages_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for language in PAGES:
        shutil.copytree(SAMPLE / language, tmp_path / language)
    monkeypatch.setattr(make_sample, "SAMPLE", tmp_path)
    make_sample.main()
    names = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert len(names) == 5
    for name in names:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes()


def test_the_committed_files_are_what_the_dumps_give(clir: Clir, tmp_path: Path) -> None:
    assert clir("wikipedia", "configs/wikipedia/sample.yaml", "--set", f"output={tmp_path / 'out'}").code == 0
    for name in MADE:
        assert (tmp_path / "out" / name).read_bytes() == (SAMPLE / name).read_bytes()


def test_there_are_at_least_120_page_pairs_on_a_dozen_subjects() -> None:
    assert len(PAGES["en"]) == len(PAGES["fr"]) >= 120
    for language in PAGES:
        assert len(list((SAMPLE / language).glob("*.wiki"))) >= 12
    texts = [page.text for pages in PAGES.values() for page in pages.values()]
    assert len({*texts}) == len(texts)


@pytest.mark.parametrize(("language", "other", "sentences_of_a_page"), [("en", "fr", 3), ("fr", "en", 4)])
def test_each_page_has_a_counterpart_good_links_and_sentences_without_markup(
    language: str, other: str, sentences_of_a_page: int
) -> None:
    for title, page in PAGES[language].items():
        assert PAGES[other][page.counterpart].counterpart == title
        assert page.links <= PAGES[language].keys(), title
        assert len(sentences(page.text)) >= sentences_of_a_page, title
        assert not re.search(r"\[\[|\]\]|''|[|=\t\n]", page.text), title
