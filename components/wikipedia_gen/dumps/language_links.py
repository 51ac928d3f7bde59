"""Reads which page of another wiki is the same as one of this."""

from collections.abc import Iterator

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_rows import read_rows
from components.wikipedia_gen.dumps.sql_text import sql_text


def language_links(path: str, code: str, open_file: OpenFile) -> Iterator[tuple[int, str]]:
    """The links of `langlinks.sql.gz` to one other wiki: (page id here, title there).

    Pages of every namespace have such links; a title is as it was written, so that it still is to be made normal.

    Args:
      path: of the dump.
      code: of the other wiki, see `SiteInfo.code`.
      open_file: opens it.

    Raises:
      DataError: see `read_rows`.
    """
    wanted = code.encode()
    for page_id, lang, title in read_rows(path, "langlinks", ("ll_from", "ll_lang", "ll_title"), open_file):
        if lang == wanted and title:
            yield int(page_id or 0), sql_text(title)
