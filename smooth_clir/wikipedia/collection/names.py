"""Holds the names of a wiki's articles, and pairs titles that mean the same."""

from array import array
from collections.abc import Container, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from smooth_clir.wikipedia.dumps.titles import title_hash


class PackedStrings:
    """Millions of short strings in little memory: UTF-8, and 8 bytes more for each string.

    Args:
      strings: in order.

    Example:
      >>> titles = PackedStrings(["Loup", "Éléphant"])
      >>> len(titles), titles[1]
      (2, 'Éléphant')
    """

    def __init__(self, strings: Iterable[str]) -> None:
        content = bytearray()
        self._ends = array("q", [0])
        for string in strings:
            content += string.encode()
            self._ends.append(len(content))
        self._content = bytes(content)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, index: int) -> str:
        return self._content[self._ends[index] : self._ends[index + 1]].decode()


class Names:
    """The names of each article: its title, and the titles of the redirects to it.

    Args:
      titles: the titles of the articles.
      redirects: the titles of the redirects.
      leads_to: the article of each redirect, [redirects]; below 0 if there is none.
    """

    def __init__(self, titles: PackedStrings, redirects: PackedStrings, leads_to: npt.NDArray[np.int32]) -> None:
        self._titles = titles
        self._redirects = redirects
        self._order = np.argsort(leads_to, kind="stable").astype(np.int32)
        self._sorted = leads_to[self._order]

    def title(self, article: int) -> str:
        return self._titles[article]

    def redirects(self, article: int) -> list[str]:
        """Returns the titles of the redirects to an article, in the dump's order."""
        start, end = np.searchsorted(self._sorted, [article, article + 1])
        return [self._redirects[row] for row in self._order[start:end].tolist()]

    def all(self, article: int) -> list[str]:
        """Returns all names of an article, the title first."""
        return [self.title(article), *self.redirects(article)]


def title_pairs(
    queries: Names, documents: Names, pairs: Sequence[tuple[int, int]], held_out: Container[int]
) -> Iterator[tuple[str, str]]:
    """Yields distinct pairs of titles of both languages that mean the same: of pages, and of redirects to either page.

    Leaves out all names of held-out pages, even if another page has the same name, so that the pairs show no title of a
    test page.

    Args:
      queries: the names in the queries' wiki.
      documents: the names in the documents' wiki.
      pairs: articles of both wikis about the same thing.
      held_out: the articles of the queries' wiki that only eval and test queries are about.
    """
    secret = {
        title_hash(name.casefold())
        for query, document in pairs
        if query in held_out
        for name in (*queries.all(query), *documents.all(document))
    }
    for query, document in pairs:
        query_title, document_title = queries.title(query), documents.title(document)
        page_pairs = [
            (query_title, document_title),
            *((name, document_title) for name in queries.redirects(query)),
            *((query_title, name) for name in documents.redirects(document)),
        ]
        for pair in dict.fromkeys(page_pairs):
            if not any(title_hash(name.casefold()) in secret for name in pair):
                yield pair
