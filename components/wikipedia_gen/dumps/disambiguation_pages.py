"""Reads which pages only list the meanings of a name."""

from collections.abc import Iterator

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_rows import read_rows


def disambiguation_pages(path: str, open_file: OpenFile) -> Iterator[int]:
    """The ids of the pages that `page_props.sql.gz` says are such.

    Raises:
      DataError: see `read_rows`.
    """
    for page_id, name in read_rows(path, "page_props", ("pp_page", "pp_propname"), open_file):
        if name == b"disambiguation":
            yield int(page_id or 0)
