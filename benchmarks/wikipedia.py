"""Making a collection of generated dumps, with one process and with two, beside reading the dumps alone.

    python -m benchmarks.wikipedia --pages 200000

The dumps are those of two wikis, multistream, with half of the pages each. The baseline is the work that every
way of making a collection needs: unpacking, XML, cleaning the leads and finding the links, one page after the other.
"""

import bz2
import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import numpy as np

from benchmarks.harness import CLIR, Figures, Harness, benchmark, run_process

_LETTERS = "eaisnrtoludcmpvqfbghjxyz"
_VOCABULARY = 100_000
_STREAM_PAGES = 100
_HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="{language}">
  <siteinfo><sitename>Wikipedia</sitename><dbname>{language}wiki</dbname><case>first-letter</case>
    <namespaces><namespace key="0" case="first-letter" /><namespace key="6" case="first-letter">File</namespace>
    <namespace key="14" case="first-letter">Category</namespace></namespaces></siteinfo>
"""
_PAGE = """  <page>
    <title>{title}</title><ns>0</ns><id>{page_id}</id>{redirect}
    <revision><id>{page_id}</id><timestamp>2026-01-01T00:00:00Z</timestamp><model>wikitext</model>
      <format>text/x-wiki</format><text bytes="{size}" xml:space="preserve">{text}</text></revision>
  </page>
"""
_INFOBOX = (
    "{{{{Infobox thing\n| name = {title}\n| image = Thing {number}.jpg\n| area = {{{{convert|{number}|km2}}}}\n}}}}\n"
)
_REFERENCE = "&lt;ref&gt;{{{{cite web|url=https://example.org/{number}|title={words}}}}}&lt;/ref&gt;"


class SyntheticWiki:
    """The generated dump of a wiki.

    Each page has an infobox, a lead, sections, notes, categories and 30 to 60 links; its words come from a generated
    vocabulary. Every fifth page is a redirect, and six of ten articles have a counterpart in the other wiki.

    Args:
      language: its language code.
      pages: the number of pages.
      length: factor of the texts' lengths; 1 gives some 7 kB a page on average.
    """

    def __init__(self, language: str, pages: int, length: float = 1.0) -> None:
        self._language = language
        self._count = pages
        self._length = length
        generator = np.random.default_rng(len(language) + ord(language[0]))
        letters = generator.choice(list(_LETTERS), (_VOCABULARY, 8))
        ends = generator.integers(2, 9, _VOCABULARY)
        self._words = ["".join(row[:end]) for row, end in zip(letters, ends.tolist(), strict=True)]
        self._generator = generator
        shares = np.cumsum(1 / np.arange(1, _VOCABULARY + 1))
        self._shares = shares / shares[-1]

    def title(self, page_id: int) -> str:
        """The title of a page."""
        return f"Thing {page_id}" if page_id % 5 else f"Other thing {page_id}"

    def write(self, folder: Path) -> Path:
        """Writes the pages, as streams of a hundred pages, and their index; returns the path of the pages."""
        path = folder / f"{self._language}wiki-20260101-pages-articles-multistream.xml.bz2"
        lines = []
        with open(path, "wb") as file:
            file.write(bz2.compress(_HEADER.format(language=self._language).encode()))
            waiting: list[bytes] = []
            for page_id, page in enumerate(self._pages(), 1):
                lines.append(f"{file.tell()}:{page_id}:{self.title(page_id)}\n")
                waiting.append(page)
                if len(waiting) == _STREAM_PAGES or page_id == self._count:
                    file.write(bz2.compress(b"".join(waiting)))
                    waiting = []
            file.write(bz2.compress(b"</mediawiki>\n"))
        index = path.with_name(path.name.replace("multistream.xml", "multistream-index.txt"))
        index.write_bytes(bz2.compress("".join(lines).encode()))
        return path

    def write_language_links(self, folder: Path, linked_language: str) -> Path:
        """Writes a table of links to the same pages of another wiki; returns its path."""
        path = folder / f"{self._language}wiki-20260101-langlinks.sql.gz"
        with gzip.open(path, "wb") as file:
            file.write(b"CREATE TABLE `langlinks` (\n  `ll_from` int unsigned,\n  `ll_lang` varbinary(35),\n")
            file.write(b"  `ll_title` varbinary(255)\n);\n")
            rows = [
                f"({page_id},'{linked_language}','{self.title(page_id)}')"
                for page_id in range(1, self._count + 1)
                if page_id % 5 and page_id % 10 < 8
            ]
            for start in range(0, len(rows), 10_000):
                file.write(f"INSERT INTO `langlinks` VALUES {','.join(rows[start : start + 10_000])};\n".encode())
        return path

    def _pages(self) -> Iterator[bytes]:
        for page_id in range(1, self._count + 1):
            title = self.title(page_id)
            if page_id % 5 == 0:
                target = self.title(page_id - 1)
                text, redirect = f"#REDIRECT [[{target}]]", f'<redirect title="{target}" />'
            else:
                text, redirect = self._text(page_id, title), ""
            yield _PAGE.format(title=title, page_id=page_id, redirect=redirect, size=len(text), text=text).encode()

    def _text(self, page_id: int, title: str) -> str:
        """An article; the number of its sections is lognormal, as on Wikipedia."""
        generator = self._generator
        sections = 1 + int(self._length * generator.lognormal(1.2, 0.8))
        links = iter(self._targets(page_id, int(generator.integers(30, 61))))
        parts = [_INFOBOX.format(title=title, number=page_id), f"'''{title}''' is a {self._prose(60, links, 8)}\n\n"]
        parts += [
            f"== {self._prose(2, iter(()), 0)} ==\n{self._prose(130, links, 10)}{self._reference(page_id)}\n\n"
            for _ in range(sections)
        ]
        parts += [f"* [[{link}]]\n" for link in links]
        parts.append(f"[[Category:Things {page_id % 100}]]\n")
        return "".join(parts)

    def _targets(self, page_id: int, count: int) -> list[str]:
        """Titles of linked pages: half are near, and often link back; half are anywhere."""
        near = page_id + self._generator.integers(-40, 41, count // 2)
        far = self._generator.integers(1, self._count + 1, count - count // 2)
        return [self.title(int(page)) for page in np.concatenate([near, far]).clip(1, self._count)]

    def _prose(self, count: int, links: Iterator[str], linked: int) -> str:
        """Sentences with `count` words, of which about `linked` are links."""
        rows = np.searchsorted(self._shares, self._generator.random(count))
        words = [self._words[row] for row in rows.tolist()]
        step = max(count // max(linked, 1), 1)
        for number, link in zip(range(3, count, step), links if linked else (), strict=False):
            words[number] = f"[[{link}|{words[number]}]]"
        for number in range(12, count, 13):
            words[number] += "."
            words[number + 1 : number + 2] = [word.capitalize() for word in words[number + 1 : number + 2]]
        return " ".join(words) + "."

    def _reference(self, number: int) -> str:
        return _REFERENCE.format(number=number, words=self._words[number % _VOCABULARY])


def generate(folder: Path, pages: int, length: float) -> Path:
    """Writes both dumps and the configuration; returns the path of the configuration."""
    lines = ["wikis:"]
    for language, linked_language in (("en", "fr"), ("fr", "en")):
        wiki = SyntheticWiki(language, pages // 2, length)
        lines += [f"  {language}:", f"    pages: {wiki.write(folder)}"]
        if language == "en":
            lines.append(f"    language_links: {wiki.write_language_links(folder, linked_language)}")
    path = folder / "wikipedia.yaml"
    path.write_text("\n".join([*lines, "pairs: [en-fr]", f"output: {folder}/made", ""]))
    return path


def read_alone(config_path: str) -> int:
    """Unpacks, parses, cleans leads and finds links; returns the number of pages."""
    from pipeline.wikipedia.config import load_wikipedia_config
    from smooth_clir.wikipedia.dumps.chunks import dump_chunks
    from smooth_clir.wikipedia.dumps.page_parser import Page
    from smooth_clir.wikipedia.dumps.read_pages import read_pages
    from smooth_clir.wikipedia.dumps.site_info import read_site_info
    from smooth_clir.wikipedia.wikitext.article import Wanted, read_article
    from smooth_clir.wikipedia.wikitext.conventions import conventions_for

    config, count = load_wikipedia_config(config_path), 0
    # As in making: the leads of the queries' wiki, the texts and links of the documents' wiki.
    for language, wanted in (("en", Wanted(text=False, links=False)), ("fr", Wanted(lead=False))):
        path = config.wikis[language].pages
        site = read_site_info(path, open)
        conventions = conventions_for(language, site.namespaces)
        for chunk in dump_chunks(path, open):
            for page in read_pages(chunk, open):
                count += 1
                if isinstance(page, Page) and page.redirect is None:
                    read_article(page.text, page.title, conventions, config.max_words, wanted)
    return count


@click.command()
@click.option("--pages", default=200_000, show_default=True, help="Number of pages of both dumps.")
@click.option("--length", default=1.0, show_default=True, help="Factor of the texts' lengths.")
@click.option("--dumps", type=click.Path(path_type=Path), help="Folder in which the dumps are, or are kept.")
@click.option("--read", "only_read", hidden=True)
@benchmark(rounds=1)
def main(harness: Harness, pages: int, length: float, dumps: Path | None, only_read: str | None) -> None:
    """Compare making a collection with reading its dumps alone."""
    if only_read:
        click.echo(read_alone(only_read))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (dumps or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "wikipedia.yaml"
        path = config if config.exists() else generate(folder, pages, length)
        read = [sys.executable, "-m", "benchmarks.wikipedia", "--read", str(path)]
        ways = {"reading alone": partial(measure, read, folder)}
        for processes in (1, 2):
            make = [*CLIR, "wikipedia", str(path), "--json", f"--processes={processes}"]
            ways[f"making, {processes} process{'es' if processes > 1 else ''}"] = partial(measure, make, folder)
        harness.compare(f"{pages:,} pages, texts of length {length:g}", ways)


def measure(command: list[str], folder: Path) -> Figures:
    """Runs a command; returns its times, memory and speed."""
    shutil.rmtree(folder / "made", ignore_errors=True)
    usage = run_process(command)
    result = json.loads(usage.output)
    if isinstance(result, dict):
        (manifest,) = result["pairs"].values()
        result = sum(wiki["pages"]["read"] for wiki in manifest["wikis"].values())
    return {
        "CPU s": usage.cpu_seconds,
        "s": usage.seconds,
        "peak MB": usage.peak_bytes / 1e6,
        "pages/s": result / usage.seconds,
    }


if __name__ == "__main__":
    main()
