"""Which articles of two wikis are of one thing, by what either side or Wikidata says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from components.wikipedia_gen.wiki import NOT_FOUND, Wiki

Pairs = tuple[npt.NDArray[Any], npt.NDArray[np.uint64]]
"""Page ids or title hashes, and the title hashes in the other wiki, [links]."""


@dataclass(frozen=True)
class Counterparts:
    """The MR document of every article of the queries' wiki.

    Attributes:
      documents: [articles], places of articles of the documents' wiki; `NOT_FOUND` where there is none.
      is_lost: [articles], whether there is a link, but to no article of the dump.
      counts: links by their source, and what became of them.
    """

    documents: npt.NDArray[np.int32]
    is_lost: npt.NDArray[np.bool_]
    counts: Mapping[str, int]


def find_counterparts(
    queries: Wiki,
    documents: Wiki,
    from_queries: Iterable[Pairs],
    from_documents: Iterable[Pairs],
    sitelinks: Iterable[Pairs],
) -> Counterparts:
    """Finds MR documents: by the query page's language link, then by the document's, then by Wikidata.

    Titles lead through redirects to articles. Of several links of one page the first counts.

    Args:
      queries: the queries' wiki.
      documents: the documents' wiki.
      from_queries: parts of the language links of the queries' wiki to the other.
      from_documents: of those the other way.
      sitelinks: of what Wikidata says: title hashes in the queries' wiki, and in the documents'.
    """
    found = np.full(len(queries), NOT_FOUND, np.int32)
    is_linked = np.zeros(len(queries), np.bool_)
    counts = dict.fromkeys(("links", "of_no_article", "lost", "used", "as_before", "otherwise"), 0)

    def add(sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]) -> None:
        known = sources != NOT_FOUND
        counts["links"] += len(sources)
        counts["of_no_article"] += int((~known).sum())
        sources, targets = sources[known], targets[known]
        is_linked[sources] = True
        held = targets != NOT_FOUND
        counts["lost"] += int((~held).sum())
        sources, first = np.unique(sources[held], return_index=True)
        targets = targets[held][first]
        counts["otherwise"] += int(held.sum()) - len(sources)
        new = found[sources] == NOT_FOUND
        counts["used"] += int(new.sum())
        counts["as_before"] += int((found[sources] == targets).sum())
        counts["otherwise"] += int((~new & (found[sources] != targets)).sum())
        found[sources[new]] = targets[new]

    for page_ids, titles in from_queries:
        add(queries.find_ids(page_ids), documents.find(titles))
    for page_ids, titles in from_documents:
        # A document's link goes the other way: to no article of the queries' wiki it says nothing.
        add(queries.find(titles), documents.find_ids(page_ids))
    for query_titles, document_titles in sitelinks:
        add(queries.find(query_titles), documents.find(document_titles))
    return Counterparts(found, is_linked & (found == NOT_FOUND), counts)
