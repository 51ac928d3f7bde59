"""Documents that belong together, because they are relevant to one query."""

from collections import Counter
from collections.abc import Iterable

MOST_IN_ONE = 10
"""A group with more than one in so many documents is not kept whole."""


class DocumentGroups:
    """The connected components of documents over the queries that they are relevant to.

    So no query has relevant documents in two groups. The order in which queries are added changes nothing.

    Example:
      >>> groups = DocumentGroups()
      >>> for relevant in (["d1", "d2"], ["d3"], ["d2", "d4"]):
      ...     groups.join(relevant)
      >>> [groups.first(doc_id) for doc_id in ("d1", "d2", "d3", "d4")]
      ['d1', 'd1', 'd3', 'd1']
    """

    def __init__(self) -> None:
        self._earlier: dict[str, str] = {}  # of the same group; a document's own id where it is the first

    def first(self, doc_id: str) -> str:
        """The first of a document's group, in the order of ids."""
        while (earlier := self._earlier.setdefault(doc_id, doc_id)) != doc_id:
            self._earlier[doc_id] = self._earlier[earlier]
            doc_id = earlier
        return doc_id

    def join(self, doc_ids: Iterable[str]) -> None:
        """Puts documents into one group, with the groups that they were in."""
        first, *others = sorted({self.first(doc_id) for doc_id in doc_ids})
        self._earlier.update(dict.fromkeys(others, first))

    def merge(self, others: "DocumentGroups") -> None:
        """Adds other groups, which may share documents with these."""
        for pair in others._earlier.items():
            self.join(pair)

    def units(self) -> dict[str, str]:
        """What each document is divided by: the first of its group, or its own id where the group is too large.

        Too large is a group with more than a tenth of the documents that are relevant to some query: pages of an
        encyclopedia may well be linked all to all, and then no split would have its share.

        Example:
          >>> groups = DocumentGroups()
          >>> for number in range(18):
          ...     groups.join([f"a{number}"])
          >>> groups.join(["b1", "b2"])  # two of 20
          >>> groups.units()["b2"]
          'b1'
          >>> groups.join(["b1", "b3"])  # three of 21
          >>> groups.units()["b2"]
          'b2'
        """
        first = {doc_id: self.first(doc_id) for doc_id in self._earlier}
        sizes = Counter(first.values())
        return {doc_id: one if MOST_IN_ONE * sizes[one] <= len(first) else doc_id for doc_id, one in first.items()}
