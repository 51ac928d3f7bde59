"""Packs the sample's wikitext pages as the dumps of two small wikis, in Wikimedia's format.

    .venv/bin/python tools/make_sample.py
    .venv/bin/clir wikipedia configs/wikipedia/sample.yaml

The second command makes the sample's WikiCLIR files from these dumps. Run both from the repository's root.
"""

import bz2
import gzip
import hashlib
import io
import re
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

SAMPLE = Path(__file__).parent.parent / "data" / "sample"
DATE = "20260101"

_XML = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="{language}">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>{language}wiki</dbname>
    <base>https://{language}.wikipedia.org/</base>
    <generator>tools/make_sample.py</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
{namespaces}    </namespaces>
  </siteinfo>
{pages}</mediawiki>
"""
_NAMESPACE = """      <namespace key="{key}" case="first-letter">{name}</namespace>
"""
_PAGE = """  <page>
    <title>{title}</title>
    <ns>0</ns>
    <id>{page_id}</id>
    <revision>
      <id>{page_id}</id>
      <timestamp>2026-01-01T00:00:00Z</timestamp>
      <contributor>
        <username>Smooth CLIR</username>
        <id>1</id>
      </contributor>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{size}" xml:space="preserve">{text}</text>
    </revision>
  </page>
"""
_SQL = """-- The links between languages of the sample's pages, in the form of MediaWiki's dumps.

DROP TABLE IF EXISTS `langlinks`;
CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL DEFAULT 0,
  `ll_lang` varbinary(35) NOT NULL DEFAULT '',
  `ll_title` varbinary(255) NOT NULL DEFAULT '',
  PRIMARY KEY (`ll_from`,`ll_lang`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

INSERT INTO `langlinks` VALUES {rows};
"""
_NAMESPACES = {
    "en": {6: "File", 10: "Template", 14: "Category"},
    "fr": {6: "Fichier", 10: "Modèle", 14: "Catégorie"},
}


class Page(NamedTuple):
    """A page: its wikitext, and its counterpart in the other language."""

    title: str
    wikitext: str
    language: str
    counterpart: str


def read_pages(folder: Path) -> list[Page]:
    """Reads every page of a folder of `.wiki` files; a level-1 heading starts a page."""
    pages: dict[str, Page] = {}
    for file in sorted(folder.glob("*.wiki")):
        _, *parts = re.split(r"^= (.+?) =$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for title, body in zip(parts[::2], parts[1::2], strict=True):
            if title in pages:
                raise ValueError(f"{file}: two pages have the title {title!r}")
            ((link, language, counterpart),) = re.findall(r"(\[\[(en|fr):([^\]]+)\]\]\n*)", body)
            pages[title] = Page(title, body.replace(link, "").strip(), language, counterpart)
    return list(pages.values())


def pages_xml(language: str, pages: list[Page]) -> str:
    """Pages in MediaWiki's export format; their ids are 1, 2, and so on."""
    namespaces = "".join(_NAMESPACE.format(key=key, name=name) for key, name in _NAMESPACES[language].items())
    texts = (
        _PAGE.format(
            title=escape(page.title), page_id=page_id, size=len(page.wikitext.encode()), text=escape(page.wikitext)
        )
        for page_id, page in enumerate(pages, 1)
    )
    return _XML.format(language=language, namespaces=namespaces, pages="".join(texts))


def links_sql(pages: list[Page]) -> str:
    """The links to the other language, in the form of MediaWiki's table."""
    rows = (f"({page_id},'{page.language}','{_quoted(page.counterpart)}')" for page_id, page in enumerate(pages, 1))
    return _SQL.format(rows=",".join(rows))


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def main() -> None:
    """Writes the pages and the language links of both wikis, and their checksums."""
    sums: dict[str, str] = {}
    for language in ("en", "fr"):
        pages = read_pages(SAMPLE / language)
        prefix = SAMPLE / f"{language}wiki-{DATE}-"
        xml, sql = pages_xml(language, pages).encode(), links_sql(pages).encode()
        pages_path, links_path = Path(f"{prefix}pages-articles.xml.bz2"), Path(f"{prefix}langlinks.sql.gz")
        pages_path.write_bytes(bz2.compress(xml))
        # Without the time of day, the same pages give the same bytes.
        with gzip.GzipFile("", "wb", fileobj=(packed := io.BytesIO()), mtime=0) as file:
            file.write(sql)
        links_path.write_bytes(packed.getvalue())
        sums |= {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (pages_path, links_path)}
        print(f"{len(pages)} pages in {prefix.name}pages-articles.xml.bz2 under {SAMPLE.name}/")
    (SAMPLE / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))


if __name__ == "__main__":
    main()
