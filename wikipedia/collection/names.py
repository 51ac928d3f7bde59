"""The names of a wiki's articles, and the dictionary of titles that mean the same."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from wikipedia.dumps.titles import title_hash


class PackedStrings:
    """A sequence of strings, held as UTF-8 one after another: some 8 bytes more than each string itself.

    Args:
      strings: in order.

    Example:
      >>> titles = PackedStrings(["Loup", "Éléphant"])
      >>> len(titles), titles[1]
      (2, 'Éléphant')
    """

    def __init__(self, strings: Iterable[str]) -> None:
        content = bytearray()
        ends = [0]
        parts = []
        for string in strings:
            content += string.encode()
            ends.append(len(content))
            if len(ends) == _ENDS:
                parts.append(np.array(ends, np.int64))
                ends = []
        self._ends = np.concatenate([*parts, np.array(ends, np.int64)])
        self._content = bytes(content)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place: int) -> str:
        return self._content[self._ends[place] : self._ends[place + 1]].decode()


_ENDS = 1 << 16
"""Ends that are held as Python's numbers at a time."""


class Names:
    """What each article of a wiki is called: its title, and those of the redirects to it.

    Args:
      titles: of the articles.
      redirects: the titles of redirects.
      leads_to: [redirects], the article of each; one below 0 leads to none.
    """

    def __init__(self, titles: PackedStrings, redirects: PackedStrings, leads_to: npt.NDArray[np.int32]) -> None:
        self._titles = titles
        self._redirects = redirects
        self._order = np.argsort(leads_to, kind="stable").astype(np.int32)
        self._sorted = leads_to[self._order]

    def title(self, article: int) -> str:
        """Its title."""
        return self._titles[article]

    def others(self, article: int) -> list[str]:
        """The titles of the redirects to it, in the dump's order."""
        start, end = np.searchsorted(self._sorted, [article, article + 1])
        return [self._redirects[place] for place in self._order[start:end].tolist()]

    def all(self, article: int) -> list[str]:
        """All of them, the title first."""
        return [self.title(article), *self.others(article)]


def title_pairs(
    queries: Names,
    documents: Names,
    pairs: Iterable[tuple[int, int]],
    held_out_queries: Sequence[int],
    held_out_documents: Sequence[int],
) -> Iterator[tuple[str, str]]:
    """Titles of both languages that mean the same, each pair once: of the pages, and of redirects to either.

    Left out are all names of held-out pages, of whichever page they are a name, too: nothing that is learned of the
    pairs has seen a test page's title.

    Args:
      queries: the names of articles of the queries' wiki.
      documents: of the documents' wiki.
      pairs: articles of both that are of one thing.
      held_out_queries: articles whose queries are in the eval and test splits.
      held_out_documents: the relevant documents of these.
    """
    secret = {title_hash(name.casefold()) for article in held_out_queries for name in queries.all(article)}
    secret |= {title_hash(name.casefold()) for article in held_out_documents for name in documents.all(article)}
    for query, document in pairs:
        title, other_title = queries.title(query), documents.title(document)
        own = [
            (title, other_title),
            *((name, other_title) for name in queries.others(query)),
            *((title, name) for name in documents.others(document)),
        ]
        for pair in dict.fromkeys(own):
            if not any(title_hash(name.casefold()) in secret for name in pair):
                yield pair
