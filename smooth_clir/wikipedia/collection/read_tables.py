"""Reads language links, redirects, page links and sitelinks into files of arrays."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from smooth_clir.wikipedia.collection.pieces import read_array, write_arrays
from smooth_clir.wikipedia.dumps.site_info import SiteInfo
from smooth_clir.wikipedia.dumps.tables import language_links, page_links, redirects, wikidata_sitelinks
from smooth_clir.wikipedia.dumps.titles import Titles, title_hash

_ROWS: Final = 1 << 22
"""Rows of a table in an array: 64 MB."""


Pairs: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[np.uint64]]
"""Page ids or title hashes, and title hashes in the same or another wiki, both [links]."""


class TableRead(NamedTuple):
    """The paths of a table's arrays, and the total number of rows."""

    paths: tuple[str, ...]
    rows: int


def read_language_links(name: str, path: str, target: SiteInfo, folder: str) -> TableRead:
    """Writes the links of a wiki's pages to the pages of another wiki.

    Args:
      name: the beginning of the arrays' file names.
      path: the wiki's language links.
      target: the other wiki, for the form of its titles.
      folder: the folder to write to.
    """
    normal = Titles(target).normal
    rows = ((page_id, title_hash(normal(title))) for page_id, title in language_links(path, target.code))
    return _write(_packed(rows, np.int64), name, folder)


def read_redirects(name: str, path: str, site: SiteInfo, folder: str) -> TableRead:
    """Writes the redirects of a wiki to its articles; see `read_language_links`."""
    normal = Titles(site).normal
    rows = ((page_id, title_hash(normal(title))) for page_id, title in redirects(path))
    return _write(_packed(rows, np.int64), name, folder)


def read_page_links(name: str, path: str, targets: str | None, folder: str) -> TableRead:
    """Writes the links between a wiki's articles; see `read_language_links`.

    Args:
      targets: the titles that the links name by numbers; None if the links contain the titles.
    """
    return _write(page_links(path, targets), name, folder)


def read_sitelinks(name: str, path: str, sites: tuple[SiteInfo, SiteInfo], folder: str) -> TableRead:
    """Writes which pages of two wikis are about the same thing; see `read_language_links`."""
    query, document = sites
    query_title, document_title = Titles(query).normal, Titles(document).normal
    rows = (
        (title_hash(query_title(query_name)), title_hash(document_title(document_name)))
        for query_name, document_name in wikidata_sitelinks(path, query.database, document.database)
    )
    return _write(_packed(rows, np.uint64), name, folder)


def _packed(rows: Iterable[tuple[int, int]], source: type[np.int64 | np.uint64]) -> Iterator[Pairs]:
    """Yields rows as arrays; the first column has the type `source`."""
    iterator = iter(rows)
    columns: Any = [("source", source), ("target", np.uint64)]
    while len(block := np.fromiter(islice(iterator, _ROWS), columns)):
        yield block["source"], block["target"]


def _write(parts: Iterable[Pairs], name: str, folder: str) -> TableRead:
    paths: list[str] = []
    count = 0
    for sources, targets in parts:
        paths.append(os.path.join(folder, f"{name}-{len(paths):04}.npz"))
        write_arrays({"sources": sources, "targets": targets}, paths[-1])
        count += len(targets)
    return TableRead(tuple(paths), count)


def read_pairs(table: TableRead) -> Iterator[Pairs]:
    """Yields the arrays of a table, part by part."""
    for path in table.paths:
        yield read_array(path, "sources"), read_array(path, "targets")
