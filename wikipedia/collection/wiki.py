"""A wiki's articles, found by title through redirects, and the links between them."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.byte_streams import OpenFile
from schemas.drops import ReadReport, sum_of_drops
from wikipedia.collection.links import Edges, collect, count_common
from wikipedia.collection.names import Names, PackedStrings
from wikipedia.collection.pieces import (
    ARRAYS,
    REDIRECTS,
    TEXTS,
    Piece,
    PieceAccount,
    read_array,
)
from wikipedia.collection.read_tables import (
    TableRead,
)

Pairs = tuple[npt.NDArray[Any], npt.NDArray[np.uint64]]
"""Page ids or title hashes, and the title hashes in the other wiki, [links]."""

_LONGEST_CHAIN: Final = 8
"""Redirects that lead to redirects are mended by bots; MediaWiki itself follows one."""

NOT_FOUND: Final = -1


class RedirectCounts(NamedTuple):
    """What became of a wiki's redirects."""

    read: int
    used: int
    lost: int
    """Those that lead to no article of the dump: to other namespaces, other wikis, or deleted pages."""
    circular: int
    """Those that lead to each other, or through more than eight others."""


class Wiki:
    """The articles of a wiki, each by its place in the dump, from 0.

    Args:
      read: reads an array (see `ArticleArrays`) of all pieces of the wiki, in the dump's order.

    Attributes:
      page_ids, kinds, words, signatures: of all articles, see `ArticleArrays`.
      redirect_counts: what became of the redirects.
      repeated: articles whose title an earlier one has; titles lead to that one.
    """

    def __init__(self, read: Callable[[str], npt.NDArray[Any]]) -> None:
        self.page_ids: npt.NDArray[np.int64] = read("page_ids")
        self.kinds: npt.NDArray[np.uint8] = read("kinds")
        self.words: npt.NDArray[np.int32] = read("words")
        self.signatures: npt.NDArray[np.uint32] = read("signatures")
        titles = read("titles")
        self._titles, self._articles = _first_of_each(titles, np.arange(len(titles), dtype=np.int32))
        self.repeated = len(titles) - len(self._titles)
        self._id_order = np.argsort(self.page_ids, kind="stable")
        self.redirect_counts = RedirectCounts(0, 0, 0, 0)

    def __len__(self) -> int:
        return len(self.page_ids)

    def add_redirects(self, titles: npt.NDArray[np.uint64], targets: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """Lets titles lead to the articles of other titles.

        Args:
          titles: [redirects], of the redirects.
          targets: [redirects], the titles that they lead to.

        Returns:
          the article of each redirect, [redirects]; `NOT_FOUND` where it leads to none.
        """
        names, places = _first_of_each(titles, np.arange(len(titles), dtype=np.int64))
        found, at = self.find(targets), targets.copy()
        # A redirect to a redirect: take that one's target instead, again and again.
        for _ in range(_LONGEST_CHAIN):
            open_ones = np.flatnonzero(found == NOT_FOUND)
            step = _look_up(names, at[open_ones])
            open_ones, step = open_ones[step != NOT_FOUND], step[step != NOT_FOUND]
            if not len(open_ones):
                break
            at[open_ones] = targets[places[step]]
            found[open_ones] = self.find(at[open_ones])
        circular = int(((found == NOT_FOUND) & (_look_up(names, at) != NOT_FOUND)).sum())
        used = int((found != NOT_FOUND).sum())
        self.redirect_counts = RedirectCounts(len(titles), used, len(titles) - used - circular, circular)
        # An article of the same title goes before.
        all_titles = np.concatenate([self._titles, titles[found != NOT_FOUND]])
        all_articles = np.concatenate([self._articles, found[found != NOT_FOUND]])
        self._titles, self._articles = _first_of_each(all_titles, all_articles)
        return found

    def find(self, titles: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The articles that titles lead to, [titles]; `NOT_FOUND` where there is none."""
        places = _look_up(self._titles, titles)
        found = np.full(len(titles), NOT_FOUND, np.int32)
        is_there = places != NOT_FOUND
        found[is_there] = self._articles[places[is_there]]
        return found

    def find_ids(self, page_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """The articles of page ids, likewise; a redirect's page id is none's."""
        if not len(self.page_ids):
            return np.full(len(page_ids), NOT_FOUND, np.int32)
        places = np.searchsorted(self.page_ids, page_ids, sorter=self._id_order).clip(max=len(self.page_ids) - 1)
        articles: npt.NDArray[np.int32] = self._id_order[places].astype(np.int32)
        articles[self.page_ids[articles] != page_ids] = NOT_FOUND
        return articles


def _first_of_each(
    keys: npt.NDArray[np.uint64], values: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[Any]]:
    """Sorted keys, each with the value that stands first."""
    unique, first = np.unique(keys, return_index=True)
    return unique, values[first]


def _look_up(keys: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The places of keys among sorted ones; `NOT_FOUND` where there is none."""
    if not len(keys):
        return np.full(len(wanted), NOT_FOUND, np.int64)
    places = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    places[keys[places] != wanted] = NOT_FOUND
    return places


class LinkCounts(NamedTuple):
    """The links between articles of a wiki, through redirects and each once."""

    used: int
    of_wikitext: int | None
    """Where they are taken of SQL tables: those that stand in the pages' wikitext."""
    common: int | None
    """And those that both have."""


class ReadWiki:
    """A wiki as it was read.

    Args:
      pieces: of its dump, in order.
      accounts: what became of each.
      redirects: where redirects are taken of an SQL table.
      links: where links are.
      work: folder of what was read.
      open_file: opens it.

    Attributes:
      site: what its dump says of it.
      articles: found by title, through redirects.
      report: what became of the dump's pages.
      redirects: how many of its pages are redirects.
      open_file: opens what was read.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        accounts: Sequence[PieceAccount],
        redirects: TableRead | None,
        links: TableRead | None,
        work: str,
        open_file: OpenFile,
    ) -> None:
        self._pieces = pieces
        self._work = work
        self.open_file = open_file
        self._links = links
        self._accounts = accounts
        self.site = pieces[0].site
        self.articles = Wiki(self._read)
        self._lead_to = self._add_redirects(redirects)
        self.redirects = sum(one.redirects for one in accounts)
        self.report = ReadReport(
            self.site.database,
            read=sum(one.read for one in accounts),
            used=sum(one.articles for one in accounts) + self.redirects,
            drops=sum_of_drops(drops for one in accounts for drops in one.drops),
        )

    def texts(self) -> Iterator[list[str]]:
        """The texts of its articles: title, text, and the sentences of its lead."""
        return (line.split("\t") for line in self._lines(TEXTS))

    @cached_property
    def names(self) -> Names:
        """What its articles are called."""
        titles = PackedStrings(line.partition("\t")[0] for line in self._lines(TEXTS))
        return Names(titles, PackedStrings(self._lines(REDIRECTS)), self._lead_to)

    @cached_property
    def links(self) -> Edges:
        """Between its articles."""
        return self._table_links() if self._links else self._wikitext_links()

    @cached_property
    def link_counts(self) -> LinkCounts:
        """How many they are."""
        if self._links is None:
            return LinkCounts(len(self.links), None, None)
        of_wikitext = self._wikitext_links()
        return LinkCounts(len(self.links), len(of_wikitext), count_common(self.links, of_wikitext))

    def _wikitext_links(self) -> Edges:
        def parts() -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]]:
            first = 0
            for piece in self._pieces:
                counts = self._read_piece(piece, "link_counts")
                sources = np.repeat(np.arange(first, first + len(counts), dtype=np.int32), counts)
                first += len(counts)
                yield sources, self.articles.find(self._read_piece(piece, "links"))

        return collect(parts(), sum(one.links for one in self._accounts))

    def _table_links(self) -> Edges:
        table = self._links or TableRead((), 0)
        parts = (
            (self.articles.find_ids(sources), self.articles.find(targets))
            for sources, targets in read_pairs(table, "page_ids", self.open_file)
        )
        return collect(parts, table.rows)

    def _add_redirects(self, table: TableRead | None) -> npt.NDArray[np.int32]:
        titles, targets = self._read("redirects"), self._read("redirect_targets")
        if table is not None:
            targets = np.full(len(titles), _NO_TITLE, np.uint64)
            page_ids = self._read("redirect_ids")
            order = np.argsort(page_ids, kind="stable")
            for ids, names in read_pairs(table, "page_ids", self.open_file):
                places = np.searchsorted(page_ids, ids, sorter=order).clip(max=max(len(page_ids) - 1, 0))
                rows = order[places] if len(page_ids) else places[:0]
                same = page_ids[rows] == ids[: len(rows)]
                targets[rows[same]] = names[: len(rows)][same]
        return self.articles.add_redirects(titles, targets)

    def _read(self, key: str) -> npt.NDArray[Any]:
        return np.concatenate([self._read_piece(piece, key) for piece in self._pieces])

    def _read_piece(self, piece: Piece, key: str) -> npt.NDArray[Any]:
        return read_array(os.path.join(self._work, piece.name + ARRAYS), key, self.open_file)

    def _lines(self, ending: str) -> Iterator[str]:
        for piece in self._pieces:
            with self.open_file(os.path.join(self._work, piece.name + ending), "rb") as file:
                for line in file:
                    yield line[:-1].decode()


_NO_TITLE: Final = 0
"""What no title's hash is, for all that matters."""


def read_pairs(table: TableRead, key: str, open_file: OpenFile) -> Iterator[Pairs]:
    """The arrays of a table, part by part."""
    for path in table.paths:
        yield read_array(path, key, open_file), read_array(path, "targets", open_file)
