"""Reads which pages there are."""

from collections.abc import Iterator
from typing import NamedTuple

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_rows import read_rows
from components.wikipedia_gen.dumps.sql_text import sql_text

_COLUMNS = ("page_id", "page_namespace", "page_title", "page_is_redirect")


class PageRow(NamedTuple):
    """A page, whose title has spaces and no namespace."""

    page_id: int
    namespace: int
    title: str
    is_redirect: bool


def page_table(path: str, open_file: OpenFile) -> Iterator[PageRow]:
    """The rows of `page.sql.gz`.

    Raises:
      DataError: see `read_rows`.
    """
    for page_id, namespace, title, is_redirect in read_rows(path, "page", _COLUMNS, open_file):
        yield PageRow(int(page_id or 0), int(namespace or 0), sql_text(title).replace("_", " "), bool(is_redirect))
