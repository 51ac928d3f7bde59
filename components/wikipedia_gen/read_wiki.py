"""A wiki, gathered from the pieces in which its dump was read."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from components.wikipedia_gen.article_arrays import read_array
from components.wikipedia_gen.counterparts import Pairs
from components.wikipedia_gen.packed_strings import PackedStrings
from components.wikipedia_gen.page_links import Edges, collect, count_common
from components.wikipedia_gen.read_articles import (
    ARRAYS,
    REDIRECTS,
    TEXTS,
    Piece,
    PieceAccount,
)
from components.wikipedia_gen.read_tables import (
    TableRead,
)
from components.wikipedia_gen.title_pairs import Names
from components.wikipedia_gen.wiki import Wiki
from schemas.drops import ReadReport, sum_of_drops

Open = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""


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
        open_file: Open,
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


def read_pairs(table: TableRead, key: str, open_file: Open) -> Iterator[Pairs]:
    """The arrays of a table, part by part."""
    for path in table.paths:
        yield read_array(path, key, open_file), read_array(path, "targets", open_file)
