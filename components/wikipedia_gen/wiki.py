"""The articles of a wiki, found by title, through redirects."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

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
