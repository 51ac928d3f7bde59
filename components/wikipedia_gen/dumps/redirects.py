"""Reads which pages lead to which others."""

from collections.abc import Iterator
from typing import NamedTuple

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_rows import read_rows
from components.wikipedia_gen.dumps.sql_text import sql_text

_COLUMNS = ("rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment")


class Redirect(NamedTuple):
    """A page that leads to another.

    Attributes:
      page_id: of the page.
      namespace, title: of the other, with spaces.
      fragment: the section to which it leads; empty if it leads to the whole page.
      interwiki: the prefix of the wiki to which it leads; empty if it is this one.
    """

    page_id: int
    namespace: int
    title: str
    fragment: str
    interwiki: str


def redirects(path: str, open_file: OpenFile) -> Iterator[Redirect]:
    """The rows of `redirect.sql.gz`.

    Raises:
      DataError: see `read_rows`.
    """
    for page_id, namespace, title, interwiki, fragment in read_rows(path, "redirect", _COLUMNS, open_file):
        yield Redirect(
            int(page_id or 0),
            int(namespace or 0),
            sql_text(title).replace("_", " "),
            sql_text(fragment),
            sql_text(interwiki),
        )
