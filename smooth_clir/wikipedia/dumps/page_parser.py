"""Parses the XML of pages block by block, and says why a page is left out."""

from typing import Any, Final, NamedTuple
from xml.parsers import expat

from schemas.drops import Drop, DropReason
from schemas.wikiclir import EXCERPT_CHARACTERS, excerpt_of
from smooth_clir.wikipedia.dumps.reading import damaged, safe_parser

MAX_TEXT_BYTES: Final = 1 << 22
"""Longest text in the XML. MediaWiki saves at most 2 MiB, which `&quot;` and the like make longer."""
MAX_TAG_BYTES: Final = 1 << 20
"""Longest tag or comment; a dump's have a few hundred bytes. Before version 2.6, expat reads a tag again with each
block that it spans (CVE-2023-52425)."""

_TAG_BYTES: Final = 256
_ROOT: Final = b"<mediawiki>"
_MODEL: Final = "wikitext"
# The number of elements that are open around a new one: <mediawiki>, <page>, <revision>.
_IN_ROOT, _IN_PAGE, _IN_REVISION = 1, 2, 3
_PAGE_FIELDS: Final = frozenset(["title", "ns", "id"])


class Page(NamedTuple):
    """An article or a redirect: a page of the main namespace in wikitext.

    Attributes:
      page_id: the id, unique within the wiki.
      title: the title with spaces, as in the dump.
      redirect: the title that the page leads to, without the section; None for an article.
      text: the text of the last revision in the dump.
    """

    page_id: int
    title: str
    redirect: str | None
    text: str


class PageReason(DropReason):
    """Why a page is left out.

    Example:
      >>> PageReason.OTHER_MODEL.text, PageReason.OTHER_MODEL.bad
      ('content is not wikitext', False)
    """

    OTHER_NAMESPACE = ("not in the main namespace", False)
    OTHER_MODEL = ("content is not wikitext", False)
    TEXT_DELETED = ("text was deleted", False)
    TEXT_EMPTY = ("empty text", False)
    TEXT_MISSING = ("dump lacks the text, though it says that there is one", True)
    TEXT_TOO_LONG = ("text is longer than MediaWiki lets it be", True)
    NO_REVISION = ("without a revision", True)
    TOO_COSTLY = ("passes a limit of what is read in a second", True)
    MALFORMED = ("without a title, or without a number as its id or namespace", True)


class _Beyond(Exception):
    """The first page of the next chunk begins."""


class PageParser:
    """Makes a `Page` or a `Drop` of each page, and builds only texts that are used.

    Args:
      path: the file's path, for errors and drops.
      offset: the offset of the first byte that will be fed.
      within: the part of the file in which offsets are counted, for errors; empty for the whole file.
      has_root: whether the first byte begins the document; otherwise it begins a `<page>`.

    Attributes:
      in_page: whether a page has begun and not ended.
      beyond: the offset of the first page that was not read because of `end`, or None.
    """

    def __init__(self, path: str, offset: int, within: str, has_root: bool) -> None:
        self._done: list[Page | Drop] = []
        self.in_page = False
        self.beyond: int | None = None
        self._path = path
        self._within = within
        self._end: int | None = None
        self._tail = b""
        self._depth = 0
        self._parser = safe_parser(path)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._finish
        self._offset = offset
        self._fed = 0
        self._unread = 0
        """The offset up to which expat has read, where an unclosed tag or comment begins."""
        self._pieces: list[str] = []
        self._is_collecting = False
        self._last = ""
        self._new_page()
        if not has_root:
            self._parser.Parse(_ROOT, False)
            self._offset -= len(_ROOT)
            self._fed = self._unread = len(_ROOT)

    def take(self) -> list[Page | Drop]:
        """Returns the pages since the last call."""
        done, self._done = self._done, []
        return done

    @property
    def in_tag(self) -> bool:
        """Whether the parsed bytes end within a tag, outside of a page."""
        return self._tail.rfind(b"<") > self._tail.rfind(b">")

    @property
    def in_root(self) -> bool:
        """Whether pages may follow."""
        return self._depth == _IN_ROOT

    def feed(self, data: bytes, end: int | None = None) -> None:
        """Parses the next bytes.

        Args:
          data: any bytes.
          end: a page that begins at or after this offset is not read.

        Raises:
          DataError: the bytes are not well-formed XML, or not a dump.
        """
        self._end = end
        self._tail = (self._tail + data[-_TAG_BYTES:])[-_TAG_BYTES:]
        self._parse(data, False)

    def check_end(self) -> None:
        """Ends the document; raises DataError unless its root is closed."""
        self._parse(b"", True)

    def _parse(self, data: bytes, is_last: bool) -> None:
        if self.beyond is not None:
            return
        try:
            self._parser.Parse(data, is_last)
        except _Beyond:
            return
        except expat.ExpatError as error:
            if is_last:
                fault = f"the XML must end with </mediawiki>; it ends{self._after()}"
            else:
                offset = self._offset + self._parser.ErrorByteIndex
                reason = f"{expat.ErrorString(error.code)} at byte {offset:,}{self._within}"
                fault = f"the XML must be well-formed; {reason}{self._after()}"
            raise damaged(self._path, fault) from error
        self._fed += len(data)
        if (offset := self._parser.CurrentByteIndex) >= 0:  # -1 if expat defers a block
            self._unread = offset
        if self._fed - self._unread > MAX_TAG_BYTES:
            raise damaged(
                self._path,
                f"a tag or comment must have at most {MAX_TAG_BYTES:,} bytes; the one at byte "
                f"{self._offset + self._unread:,}{self._within} has more{self._after()}",
            )

    def _after(self) -> str:
        return f", after the page {excerpt_of(self._last)}" if self._last else ", before the first page"

    def _new_page(self) -> None:
        self._values: dict[str, str] = {}
        self._redirect: str | None = None
        self._parent = ""
        self._new_revision()
        self._has_revision = False

    def _new_revision(self) -> None:
        self._has_revision = True
        self._model = ""
        self._text = ""
        self._text_start = 0
        self._is_deleted = self._is_promised = self._is_too_long = False

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        depth = self._depth
        self._depth = depth + 1
        if depth == _IN_REVISION:
            if self._parent == "revision":
                if name == "model":
                    self._collect(self._pieces.append)
                elif name == "text":
                    self._start_text(attributes)
        elif depth == _IN_PAGE:
            if name in _PAGE_FIELDS:
                self._collect(self._pieces.append)
            elif name == "revision":
                self._new_revision()
            elif name == "redirect":
                self._redirect = attributes.get("title", "")
            self._parent = name
        elif depth == _IN_ROOT:
            if name == "page":
                self._start_page()
        elif depth == 0 and name != "mediawiki":
            raise damaged(self._path, f"a dump begins with <mediawiki>; got <{name}>")

    def _start_page(self) -> None:
        offset = self._offset + self._parser.CurrentByteIndex
        if self._end is not None and offset >= self._end:
            self.beyond = offset
            raise _Beyond
        self._new_page()
        self.in_page = True

    def _start_text(self, attributes: dict[str, str]) -> None:
        self._is_deleted = "deleted" in attributes
        self._is_promised = attributes.get("bytes", "0") != "0"
        self._text_start = self._parser.CurrentByteIndex
        if self._values.get("ns", "0") == "0" and self._model in ("", _MODEL):
            self._collect(self._add_text)

    def _add_text(self, piece: str) -> None:
        if self._is_too_long:
            return
        self._pieces.append(piece)
        if self._parser.CurrentByteIndex - self._text_start > MAX_TEXT_BYTES:
            self._is_too_long = True
            self._pieces.clear()

    def _collect(self, handler: Any) -> None:
        """Starts to collect character data; without a handler, unwanted data cost no call."""
        self._is_collecting = True
        self._pieces.clear()
        self._parser.CharacterDataHandler = handler

    def _finish(self, name: str) -> None:
        self._depth -= 1
        depth = self._depth
        if self._is_collecting:
            self._finish_value(depth, name)
        elif depth == _IN_ROOT and self.in_page:
            self._finish_page()

    def _finish_value(self, depth: int, name: str) -> None:
        self._is_collecting = False
        self._parser.CharacterDataHandler = None
        value = "".join(self._pieces)
        self._pieces.clear()
        if depth == _IN_PAGE:
            self._values[name] = value
        elif name == "model":
            self._model = value
        else:
            if self._parser.CurrentByteIndex - self._text_start > MAX_TEXT_BYTES:
                self._is_too_long = True
            self._text = "" if self._is_too_long else value

    def _finish_page(self) -> None:
        self.in_page = False
        title, identifier, namespace = (self._values.get(key, "").strip() for key in ("title", "id", "ns"))
        self._last = f"{identifier} ({title})"
        page_id = int(identifier) if identifier.isascii() and identifier.isdigit() and len(identifier) < 19 else 0
        if reason := self._fault(title, page_id, namespace):
            excerpt = title if len(title) <= EXCERPT_CHARACTERS and title.isprintable() else excerpt_of(title)
            self._done.append(Drop(reason, self._path, page_id, excerpt))
        else:
            self._done.append(Page(page_id, title, self._redirect, self._text))
        self._text = ""

    def _fault(self, title: str, page_id: int, namespace: str) -> PageReason | None:
        """Returns the reason why the page is left out, or None."""
        if not (title and page_id and namespace.removeprefix("-").isdecimal()):
            return PageReason.MALFORMED
        if namespace != "0":
            return PageReason.OTHER_NAMESPACE
        if not self._has_revision:
            return PageReason.NO_REVISION
        if self._model not in ("", _MODEL):
            return PageReason.OTHER_MODEL
        if self._is_too_long:
            return PageReason.TEXT_TOO_LONG
        if self._is_deleted:
            return PageReason.TEXT_DELETED
        if not self._text:
            return PageReason.TEXT_MISSING if self._is_promised else PageReason.TEXT_EMPTY
        return None
