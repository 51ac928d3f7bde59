"""Pages of a dump, and why one is left out."""

from typing import NamedTuple

from schemas.drops import DropReason


class Page(NamedTuple):
    """An article, or a redirect to one: a page of the main namespace in wikitext.

    Attributes:
      page_id: unique within the wiki.
      namespace: its number: 0.
      title: with spaces, as the dump has it.
      redirect: the title of the page that it leads to, without the section; None if it is an article.
      model: of the content: `wikitext`.
      text: of its last revision in the dump.
      place: where `<page>` stands, in bytes from the start of what its chunk unpacks to; in a plain file, from the
        start of the file.
    """

    page_id: int
    namespace: int
    title: str
    redirect: str | None
    model: str
    text: str
    place: int


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
