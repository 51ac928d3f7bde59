"""Generated dumps of two wikis: pages as long as Wikipedia's, with 30 to 60 links each, in any packing.

No text of anyone's: words are drawn from a generated vocabulary, pages are made of an infobox, a lead, sections, notes
and categories. Every fifth page is a redirect, and six of ten articles have a counterpart in the other wiki.
"""

import bz2
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

Packing = Literal["plain", "bz2", "multistream", "gz"]

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
    """Writes the dump of a wiki.

    Args:
      language: of the wiki.
      pages: of its dump.
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

    def write(self, folder: Path, packing: Packing) -> Path:
        """Writes the pages; returns their path."""
        ending = {"plain": "", "bz2": ".bz2", "multistream": ".bz2", "gz": ".gz"}[packing]
        name = "multistream.xml" if packing == "multistream" else "xml"
        path = (
            folder
            / f"{self._language}wiki-20260101-pages-articles{'-' if packing == 'multistream' else '.'}{name}{ending}"
        )
        header = _HEADER.format(language=self._language).encode()
        if packing == "multistream":
            self._write_streams(path, header)
            return path
        opened: Any = {"plain": open, "bz2": bz2.open, "gz": gzip.open}[packing]
        with opened(path, "wb") as file:
            file.write(header)
            for page in self._pages():
                file.write(page)
            file.write(b"</mediawiki>\n")
        return path

    def _write_streams(self, path: Path, header: bytes) -> None:
        """Streams of a hundred pages, and their index."""
        lines = []
        with open(path, "wb") as file:
            file.write(bz2.compress(header))
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

    def write_language_links(self, folder: Path, other: str) -> Path:
        """Writes the table of links to the pages of the same numbers in another wiki; returns its path."""
        path = folder / f"{self._language}wiki-20260101-langlinks.sql.gz"
        with gzip.open(path, "wb") as file:
            file.write(b"CREATE TABLE `langlinks` (\n  `ll_from` int unsigned,\n  `ll_lang` varbinary(35),\n")
            file.write(b"  `ll_title` varbinary(255)\n);\n")
            rows = [
                f"({page_id},'{other}','{self.title(page_id)}')"
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
        """An article: the lead has 60 words and more, the rest is lognormal, as on Wikipedia."""
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
        """Half of them near, which often link back, half anywhere."""
        near = page_id + self._generator.integers(-40, 41, count // 2)
        far = self._generator.integers(1, self._count + 1, count - count // 2)
        return [self.title(int(one)) for one in np.concatenate([near, far]).clip(1, self._count)]

    def _prose(self, count: int, links: Iterator[str], linked: int) -> str:
        """Sentences of some words, a few of which are links."""
        places = np.searchsorted(self._shares, self._generator.random(count))
        words = [self._words[place] for place in places.tolist()]
        for place, link in zip(range(3, count, max(count // max(linked, 1), 1)), links if linked else (), strict=False):
            words[place] = f"[[{link}|{words[place]}]]"
        for place in range(12, count, 13):
            words[place] += "."
            words[place + 1 : place + 2] = [word.capitalize() for word in words[place + 1 : place + 2]]
        return " ".join(words) + "."

    def _reference(self, number: int) -> str:
        return _REFERENCE.format(number=number, words=self._words[number % _VOCABULARY])
