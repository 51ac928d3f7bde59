"""Reads from Wikidata which pages of two wikis are about the same."""

import re
from array import array
from collections.abc import Iterator
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from components.wikipedia_gen.dumps.damaged import damaged
from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_rows import read_rows
from components.wikipedia_gen.dumps.unpacked_blocks import unpacked_file
from schemas.errors import DataError
from schemas.wikiclir import excerpt_of

_COLUMNS: Final = ("ips_item_id", "ips_site_id", "ips_site_page")
_SQL: Final = re.compile(rb"\s*(?:--|/\*|CREATE\b|DROP\b|SET\b|INSERT\b)", re.IGNORECASE)
_ITEM: Final = re.compile(rb"Q?([0-9]{1,18})")


def wikidata_sitelinks(path: str, query_db: str, document_db: str, open_file: OpenFile) -> Iterator[tuple[str, str]]:
    """The titles of every item of which both wikis have a page, ordered by item.

    Args:
      path: of either
        - lines `item id <TAB> database of the wiki <TAB> title`, as a query for `SELECT ips_item_id, ips_site_id,
          ips_site_page FROM wb_items_per_site` gives them: an item as 42 or Q42, a title with spaces or underscores and
          with its namespace; no quoting; a first line with names of columns may be there; plain, gzipped or bzipped; or
        - that table's own dump, `wikidatawiki-...-wb_items_per_site.sql.gz`.
      query_db, document_db: databases of the wikis, such as enwiki.
      open_file: opens the file.

    Yields:
      the title in the first wiki and that in the second, as they were written.

    Raises:
      DataError: the file is neither, is damaged, or names no page of one of the wikis.

    Example:
      >>> import io
      >>> lines = b"Q144\\tenwiki\\tDog\\nQ18498\\tenwiki\\tWolf\\nQ18498\\tfrwiki\\tLoup gris\\n"
      >>> [*wikidata_sitelinks("sitelinks.tsv", "enwiki", "frwiki", lambda path, mode: io.BytesIO(lines))]
      [('Wolf', 'Loup gris')]
    """
    queries, documents = _Titles(), _Titles()
    titles_of = {query_db.encode(): queries, document_db.encode(): documents}
    for item, database, title in _rows(path, open_file):
        if (titles := titles_of.get(database)) is not None:
            titles.add(item, title)
    for database, titles in titles_of.items():
        if not titles.items:
            raise DataError(
                f"{path}: expected pages of {query_db} and {document_db}; there is none of {database.decode()}. Name "
                "the wikis by their databases, or take a file that has them."
            )
    _, query_places, document_places = np.intersect1d(queries.item_ids(), documents.item_ids(), return_indices=True)
    for query_place, document_place in zip(query_places.tolist(), document_places.tolist(), strict=True):
        yield queries.title(query_place), documents.title(document_place)


class _Titles:
    """Titles of one wiki: their bytes, and 16 more each, where a list of texts would have a hundred."""

    def __init__(self) -> None:
        self.items = array("q")
        self._ends = array("q")
        self._text = bytearray()

    def add(self, item: int, title: bytes) -> None:
        """Adds one."""
        self.items.append(item)
        self._text += title
        self._ends.append(len(self._text))

    def item_ids(self) -> npt.NDArray[np.int64]:
        """Of the titles: int64 [titles]."""
        return np.frombuffer(self.items, np.int64)

    def title(self, place: int) -> str:
        """One of them."""
        start = self._ends[place - 1] if place else 0
        return self._text[start : self._ends[place]].decode("utf-8", "replace")


def _rows(path: str, open_file: OpenFile) -> Iterator[tuple[int, bytes, bytes]]:
    blocks = unpacked_file(path, open_file)
    first = next(blocks, b"")
    if not _SQL.match(first):
        yield from _of_lines(path, chain([first], blocks))
        return
    blocks.close()
    for item, database, title in read_rows(path, "wb_items_per_site", _COLUMNS, open_file):
        yield int(item or 0), bytes(database or b""), bytes(title or b"")  # type: ignore[arg-type]  # text columns


def _of_lines(path: str, blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    number = 0
    rest = b""
    for block in chain(blocks, [b"\n"]):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            number += 1
            fields = line.removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf" * (number == 1)).split(b"\t")
            if len(fields) == 3 and (item := _ITEM.fullmatch(fields[0])):
                yield int(item[1]), fields[1], fields[2]
            elif line.strip() and not (number == 1 and len(fields) == 3):
                raise damaged(
                    f"{path}:{number}",
                    f"expected 3 tab-separated fields (item id, database of the wiki, title); got {excerpt_of(line)!r}",
                )
