"""A wiki: its articles, found by title through redirects, their names and the links between them."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas import file_system
from schemas.drops import ReadReport, sum_of_drops
from smooth_clir.wikipedia.collection.links import Links, collect_links
from smooth_clir.wikipedia.collection.names import Names, PackedStrings
from smooth_clir.wikipedia.collection.pieces import ARRAYS, REDIRECTS, TEXTS, Piece, PieceAccount, read_array
from smooth_clir.wikipedia.collection.read_tables import TableRead, read_pairs

MISSING: Final = -1
"""The number of a missing article."""

_NO_TITLE: Final = 0
"""A number that is, for practical purposes, the hash of no title."""

_LONGEST_CHAIN: Final = 8
"""Longest chain of redirects that is followed. MediaWiki follows a single redirect, and bots mend longer chains."""


class RedirectCounts(NamedTuple):
    """The counts of a wiki's redirects.

    Attributes:
      read: all redirects.
      used: redirects to articles.
      lost: redirects to pages that are not articles of the dump: in other namespaces, other wikis, or deleted.
      circular: redirects to each other, or in chains that are too long.
    """

    read: int
    used: int
    lost: int
    circular: int


class Articles:
    """The articles of a wiki. An article is its number in the dump, from 0.

    Args:
      read: reads an array (see `ArticleArrays`) of all pieces of the wiki, in the dump's order.

    Attributes:
      page_ids, kinds, words, signatures: see `ArticleArrays`.
      redirect_counts: the counts of the redirects.
      repeated: the number of articles with the title of an earlier article, to which the title leads.
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
          titles: the redirects, [redirects].
          targets: the titles to which they lead, [redirects].

        Returns:
          the article of each redirect, [redirects], or `MISSING`.
        """
        names, rows = _first_of_each(titles, np.arange(len(titles), dtype=np.int64))
        articles, at = self.find(targets), targets.copy()
        # A redirect to a redirect leads to that redirect's target, and so on.
        for _ in range(_LONGEST_CHAIN):
            unresolved = np.flatnonzero(articles == MISSING)
            step = _look_up(names, at[unresolved])
            unresolved, step = unresolved[step != MISSING], step[step != MISSING]
            if not len(unresolved):
                break
            at[unresolved] = targets[rows[step]]
            articles[unresolved] = self.find(at[unresolved])
        circular = int(((articles == MISSING) & (_look_up(names, at) != MISSING)).sum())
        used = int((articles != MISSING).sum())
        self.redirect_counts = RedirectCounts(len(titles), used, len(titles) - used - circular, circular)
        # An article comes before a redirect of the same title.
        all_titles = np.concatenate([self._titles, titles[articles != MISSING]])
        all_articles = np.concatenate([self._articles, articles[articles != MISSING]])
        self._titles, self._articles = _first_of_each(all_titles, all_articles)
        return articles

    def find(self, titles: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """Returns the articles to which titles lead, [titles], or `MISSING`."""
        rows = _look_up(self._titles, titles)
        articles = np.full(len(titles), MISSING, np.int32)
        is_known = rows != MISSING
        articles[is_known] = self._articles[rows[is_known]]
        return articles

    def find_ids(self, page_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Returns the articles with these page ids, [ids]; `MISSING` for other ids, including those of redirects."""
        return _look_up(self.page_ids, page_ids, self._id_order).astype(np.int32)


def _first_of_each(
    keys: npt.NDArray[np.uint64], values: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[Any]]:
    """Returns the sorted distinct keys, with the first value of each."""
    unique, first = np.unique(keys, return_index=True)
    return unique, values[first]


def _look_up(
    keys: npt.NDArray[Any], wanted: npt.NDArray[Any], order: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """Returns the row of each wanted key, or `MISSING`. `order` sorts the keys; None if they are sorted."""
    if not len(keys):
        return np.full(len(wanted), MISSING, np.int64)
    rows = np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)
    if order is not None:
        rows = order[rows]
    rows[keys[rows] != wanted] = MISSING
    return rows


class LinkCounts(NamedTuple):
    """The counts of a wiki's distinct links between articles, through redirects.

    Attributes:
      used: all links.
      of_wikitext: the links in the pages' wikitext, if SQL tables are used; otherwise None.
      common: the links in both, or None.
    """

    used: int
    of_wikitext: int | None
    common: int | None


class Wiki:
    """A wiki, gathered from the pieces of its dump.

    Args:
      pieces: the pieces of the dump, in order.
      accounts: the account of each piece.
      redirects: the redirects of an SQL table; None to take them from the pages.
      links: the links of an SQL table; None to take them from the wikitext.
      work: the folder of the pieces.

    Attributes:
      site: the header of the dump.
      articles: the articles, found by title through redirects.
      report: the report on the dump's pages.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        accounts: Sequence[PieceAccount],
        redirects: TableRead | None,
        links: TableRead | None,
        work: str,
    ) -> None:
        self._pieces = pieces
        self._work = work
        self._links = links
        self._accounts = accounts
        self.site = pieces[0].site
        self.articles = Articles(self._read)
        self._lead_to = self._add_redirects(redirects)
        self.report = ReadReport(
            self.site.database,
            read=sum(account.read for account in accounts),
            used=sum(account.articles + account.redirects for account in accounts),
            drops=sum_of_drops(drops for account in accounts for drops in account.drops),
        )

    def texts(self) -> Iterator[list[str]]:
        """Yields the texts of each article: title, text, and the sentences of its lead."""
        return (line.split("\t") for line in self._lines(TEXTS))

    @cached_property
    def names(self) -> Names:
        titles = PackedStrings(line.partition("\t")[0] for line in self._lines(TEXTS))
        return Names(titles, PackedStrings(self._lines(REDIRECTS)), self._lead_to)

    @cached_property
    def links(self) -> Links:
        return self._wikitext_links() if self._links is None else self._table_links(self._links)

    @cached_property
    def link_counts(self) -> LinkCounts:
        if self._links is None:
            return LinkCounts(len(self.links), None, None)
        wikitext_links = self._wikitext_links()
        common = np.intersect1d(self.links, wikitext_links, assume_unique=True)
        return LinkCounts(len(self.links), len(wikitext_links), len(common))

    def _wikitext_links(self) -> Links:
        def parts() -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]]:
            first = 0
            for piece in self._pieces:
                counts = self._read_piece(piece, "link_counts")
                sources = np.repeat(np.arange(first, first + len(counts), dtype=np.int32), counts)
                first += len(counts)
                yield sources, self.articles.find(self._read_piece(piece, "links"))

        return collect_links(parts(), sum(account.links for account in self._accounts))

    def _table_links(self, table: TableRead) -> Links:
        parts = (
            (self.articles.find_ids(sources), self.articles.find(targets)) for sources, targets in read_pairs(table)
        )
        return collect_links(parts, table.rows)

    def _add_redirects(self, table: TableRead | None) -> npt.NDArray[np.int32]:
        titles, targets = self._read("redirects"), self._read("redirect_targets")
        if table is not None:
            targets = np.full(len(titles), _NO_TITLE, np.uint64)
            page_ids = self._read("redirect_ids")
            order = np.argsort(page_ids, kind="stable")
            for ids, names in read_pairs(table):
                rows = _look_up(page_ids, ids, order)
                targets[rows[rows != MISSING]] = names[rows != MISSING]
        return self.articles.add_redirects(titles, targets)

    def _read(self, key: str) -> npt.NDArray[Any]:
        return np.concatenate([self._read_piece(piece, key) for piece in self._pieces])

    def _read_piece(self, piece: Piece, key: str) -> npt.NDArray[Any]:
        return read_array(os.path.join(self._work, piece.name + ARRAYS), key)

    def _lines(self, ending: str) -> Iterator[str]:
        for piece in self._pieces:
            with file_system.open_file(os.path.join(self._work, piece.name + ending), "rb") as file:
                for line in file:
                    yield line[:-1].decode()
