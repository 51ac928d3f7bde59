"""Reads the header of a dump, which describes its wiki."""

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.reading import damaged, safe_parser, unpacked_file

SCHEMA_VERSIONS: Final = ("0.10", "0.11")
"""The versions of MediaWiki's export format that Wikimedia has published since 2014."""

_MAX_BYTES: Final = 1 << 20
"""Largest header; the largest wiki's has about 4,000 bytes."""


@dataclass(frozen=True)
class SiteInfo:
    """A wiki, by the header of its dump.

    Attributes:
      database: the database's name, such as `enwiki` or `zh_yuewiki`.
      language: the language of the texts, such as `en`.
      first_letter: whether titles begin with a capital, so that `wolf` is the page `Wolf`.
      namespaces: number to name in the wiki's language; the articles' namespace, 0, has an empty name.
    """

    database: str
    language: str
    first_letter: bool
    namespaces: Mapping[int, str]

    @property
    def code(self) -> str:
        """The wiki's code in links of other wikis and in `ll_lang`: `no`, although its language is `nb`.

        Example:
          >>> SiteInfo("zh_min_nanwiki", "nan", True, {}).code
          'zh-min-nan'
        """
        return self.database.removesuffix("wiki").replace("_", "-")


def wiki_site(paths: Sequence[str], language: str) -> SiteInfo:
    """Returns the wiki of all parts of a dump.

    Args:
      paths: the parts.
      language: the expected language, as in the header or as other wikis' links name it.

    Raises:
      DataError: the parts are from different wikis or in another language, or see `read_site_info`.
    """
    sites = {path: read_site_info(path) for path in paths}
    first = next(iter(sites.values()))
    for path, site in sites.items():
        if language not in (site.language, site.code):
            raise DataError(
                f"{path}: expected a dump of a wiki in '{language}'; got {site.database}, in '{site.language}'. Name "
                "another file or another language."
            )
        if site.database != first.database:
            raise DataError(
                f"{path}: all parts of a dump must be of the same wiki; got {site.database}, but {paths[0]} is of "
                f"{first.database}."
            )
    return first


def read_site_info(path: str) -> SiteInfo:
    """Reads the header of a dump of pages, which is plain, gzipped or bzipped.

    Raises:
      DataError: the file is not a dump of pages, has another version of the format, or is damaged.
    """
    header = _Header(path)
    read = 0
    for block in unpacked_file(path):
        if header.feed(block):
            return header.site()
        read += len(block)
        if read > _MAX_BYTES:
            break
    raise damaged(path, f"a dump must have </siteinfo> within its first {_MAX_BYTES:,} bytes")


class _Header:
    """Collects the content of <siteinfo>."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._parser = safe_parser(path)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._open: list[tuple[str, dict[str, str]]] = []
        self._root: dict[str, str] = {}
        self._pieces: list[str] = []
        self._parser.CharacterDataHandler = self._pieces.append
        self._values: dict[str, str] = {}
        self._namespaces: dict[int, str] = {}
        self._article_case = ""
        self._done = False

    def feed(self, block: bytes) -> bool:
        """Parses a block; returns whether the header is complete."""
        if not self._root and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{self._path}: a dump must be in UTF-8; got UTF-16. Take it as Wikimedia publishes it.")
        try:
            self._parser.Parse(block, False)
        except expat.ExpatError as error:
            # Faults after the header are reported when the pages are read.
            if not self._done:
                raise DataError(
                    f"{self._path}: expected the XML of a MediaWiki export (pages-articles.xml); {error}."
                ) from error
        return self._done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open:
            self._check_root(name, attributes)
        if name == "page" and not self._done:
            raise DataError(f"{self._path}: a dump must name its wiki in a <siteinfo> before the first page.")
        self._open.append((name, attributes))
        self._pieces.clear()

    def _check_root(self, name: str, attributes: dict[str, str]) -> None:
        if name != "mediawiki":
            raise DataError(f"{self._path}: a dump begins with <mediawiki>; got <{name}>. Name pages-articles.xml.")
        version = attributes.get("version", "none")
        if version not in SCHEMA_VERSIONS:
            known = " or ".join(SCHEMA_VERSIONS)
            raise DataError(
                f"{self._path}: the export format must be of version {known}; got {version}. Take a dump since 2014."
            )
        self._root = attributes

    def _end(self, name: str) -> None:
        _, attributes = self._open.pop()
        if self._done:
            return
        text = "".join(self._pieces).strip()
        if name == "namespace":
            self._add_namespace(attributes, text)
        elif len(self._open) == 2:
            self._values[name] = text
        self._done = name == "siteinfo"

    def _add_namespace(self, attributes: dict[str, str], name: str) -> None:
        try:
            number = int(attributes.get("key", ""))
        except ValueError as error:
            raise damaged(self._path, f"a <namespace> must have a number as its key; got {attributes}") from error
        self._namespaces[number] = name
        if number == 0:
            self._article_case = attributes.get("case", "")

    def site(self) -> SiteInfo:
        """Returns the wiki of a complete header."""
        database, language = self._values.get("dbname", ""), self._root.get("xml:lang", "")
        case = self._article_case or self._values.get("case", "")
        wanted = {"<dbname>": database, "xml:lang": language, "<case>": case, "<namespaces>": self._namespaces}
        if missing := [name for name, value in wanted.items() if not value]:
            raise DataError(
                f"{self._path}: the header must name {', '.join(wanted)}; {', '.join(missing)} missing. Take the file "
                "as Wikimedia publishes it."
            )
        return SiteInfo(database, language, case == "first-letter", self._namespaces)
