"""Reads what dumps say of pages besides their texts: language links, redirects and page links, as arrays."""

import os
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.byte_streams import OpenFile
from wikipedia.collection.pieces import write_arrays
from wikipedia.dumps.site_info import SiteInfo
from wikipedia.dumps.tables import language_links, page_links, redirects, wikidata_sitelinks
from wikipedia.dumps.titles import Titles, title_hash

_ROWS: Final = 1 << 22
"""Rows of a table in an array: 64 MB."""


class FromPages(NamedTuple):
    """Links of pages: their ids, and hashes of the titles that they link to, [links]."""

    page_ids: npt.NDArray[np.int64]
    targets: npt.NDArray[np.uint64]


class FromTitles(NamedTuple):
    """Pages of two wikis that are of one thing: hashes of their titles, [things]."""

    titles: npt.NDArray[np.uint64]
    targets: npt.NDArray[np.uint64]


class TableRead(NamedTuple):
    """What became of a table: its arrays, by their paths, and the rows of all."""

    paths: tuple[str, ...]
    rows: int


def read_language_links(name: str, path: str, other: SiteInfo, folder: str, open_file: OpenFile) -> TableRead:
    """Writes the links of a wiki's pages to the pages of another.

    Args:
      name: of the arrays.
      path: of the wiki's language links.
      other: the other wiki, which says what its titles look like.
      folder: to write to.
      open_file: opens what is read and what is written.
    """
    normal = Titles(other).normal
    rows = ((page_id, title_hash(normal(title))) for page_id, title in language_links(path, other.code, open_file))
    return _write(FromPages, name, rows, folder, open_file)


def read_redirects(name: str, path: str, site: SiteInfo, folder: str, open_file: OpenFile) -> TableRead:
    """Writes the redirects of a wiki; those to other namespaces and wikis lead to no title."""
    normal = Titles(site).normal
    rows = (
        (one.page_id, title_hash(normal(one.title)))
        for one in redirects(path, open_file)
        if one.namespace == 0 and not one.interwiki
    )
    return _write(FromPages, name, rows, folder, open_file)


def read_page_links(
    name: str, path: str, targets: str | None, site: SiteInfo, folder: str, open_file: OpenFile
) -> TableRead:
    """Writes the links between articles.

    Args:
      targets: of the titles that the links name by numbers; None where they name them themselves.
    """
    paths: list[str] = []
    count = 0
    for some in page_links(path, targets, open_file):
        own = os.path.join(folder, f"{name}-{len(paths):04}.npz")
        write_arrays(FromPages(some.page_ids, some.title_hashes), own, open_file)
        paths.append(own)
        count += len(some.page_ids)
    return TableRead(tuple(paths), count)


def read_sitelinks(
    name: str, path: str, sites: tuple[SiteInfo, SiteInfo], folder: str, open_file: OpenFile
) -> TableRead:
    """Writes which pages of two wikis are of one thing."""
    query, document = sites
    query_title, document_title = Titles(query).normal, Titles(document).normal
    rows = (
        (title_hash(query_title(one)), title_hash(document_title(other)))
        for one, other in wikidata_sitelinks(path, query.database, document.database, open_file)
    )
    return _write(FromTitles, name, rows, folder, open_file)


def _write(
    kind: type[FromPages] | type[FromTitles],
    name: str,
    rows: Iterable[tuple[int, int]],
    folder: str,
    open_file: OpenFile,
) -> TableRead:
    paths: list[str] = []
    iterator, count = iter(rows), 0
    columns = [("source", np.int64 if kind is FromPages else np.uint64), ("target", np.uint64)]
    while len(some := np.fromiter(islice(iterator, _ROWS), columns)):
        path = os.path.join(folder, f"{name}-{len(paths):04}.npz")
        write_arrays(kind(some["source"], some["target"]), path, open_file)
        paths.append(path)
        count += len(some)
    return TableRead(tuple(paths), count)
