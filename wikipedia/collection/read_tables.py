"""Reads language links, redirects, page links and sitelinks into files of arrays."""

import os
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.byte_streams import OpenFile
from wikipedia.collection.pieces import write_arrays
from wikipedia.dumps.site_info import SiteInfo
from wikipedia.dumps.tables import PageLinks, language_links, page_links, redirects, wikidata_sitelinks
from wikipedia.dumps.titles import Titles, title_hash

_ROWS: Final = 1 << 22
"""Rows of a table in an array: 64 MB."""


class SameThings(NamedTuple):
    """Pages of two wikis about the same things: hashes of their titles, [things]."""

    titles: npt.NDArray[np.uint64]
    targets: npt.NDArray[np.uint64]


class TableRead(NamedTuple):
    """The arrays of a table: their paths, and the number of rows in all of them."""

    paths: tuple[str, ...]
    rows: int


def read_language_links(name: str, path: str, other: SiteInfo, folder: str, open_file: OpenFile) -> TableRead:
    """Writes the links of a wiki's pages to the pages of another wiki.

    Args:
      name: the beginning of the arrays' file names.
      path: the wiki's language links.
      other: the other wiki, which gives the form of its titles.
      folder: the folder to write to.
      open_file: opens the dump and the arrays.
    """
    normal = Titles(other).normal
    rows = ((page_id, title_hash(normal(title))) for page_id, title in language_links(path, other.code, open_file))
    return _write(PageLinks, name, rows, folder, open_file)


def read_redirects(name: str, path: str, site: SiteInfo, folder: str, open_file: OpenFile) -> TableRead:
    """Writes the redirects of a wiki to its articles; see `read_language_links`."""
    normal = Titles(site).normal
    rows = ((page_id, title_hash(normal(title))) for page_id, title in redirects(path, open_file))
    return _write(PageLinks, name, rows, folder, open_file)


def read_page_links(name: str, path: str, targets: str | None, folder: str, open_file: OpenFile) -> TableRead:
    """Writes the links between a wiki's articles; see `read_language_links`.

    Args:
      targets: the titles that the links name by numbers; None if the links contain the titles.
    """
    paths: list[str] = []
    count = 0
    for links in page_links(path, targets, open_file):
        paths.append(_part_path(folder, name, len(paths)))
        write_arrays(links, paths[-1], open_file)
        count += len(links.page_ids)
    return TableRead(tuple(paths), count)


def read_sitelinks(
    name: str, path: str, sites: tuple[SiteInfo, SiteInfo], folder: str, open_file: OpenFile
) -> TableRead:
    """Writes which pages of two wikis are about the same thing; see `read_language_links`."""
    query, document = sites
    query_title, document_title = Titles(query).normal, Titles(document).normal
    rows = (
        (title_hash(query_title(one)), title_hash(document_title(other)))
        for one, other in wikidata_sitelinks(path, query.database, document.database, open_file)
    )
    return _write(SameThings, name, rows, folder, open_file)


def _write(
    kind: type[PageLinks] | type[SameThings],
    name: str,
    rows: Iterable[tuple[int, int]],
    folder: str,
    open_file: OpenFile,
) -> TableRead:
    paths: list[str] = []
    iterator, count = iter(rows), 0
    columns: Any = [("source", np.int64 if kind is PageLinks else np.uint64), ("target", np.uint64)]
    while len(some := np.fromiter(islice(iterator, _ROWS), columns)):
        paths.append(_part_path(folder, name, len(paths)))
        write_arrays(kind(some["source"], some["target"]), paths[-1], open_file)
        count += len(some)
    return TableRead(tuple(paths), count)


def _part_path(folder: str, name: str, part: int) -> str:
    return os.path.join(folder, f"{name}-{part:04}.npz")
