"""Finds the relevant documents of each article's queries, as in the paper (section 5, Datasets)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from schemas.relevance import MOST_RELEVANT, SOMEWHAT_RELEVANT
from schemas.splits import stable_hash
from smooth_clir.wikipedia.collection.links import Links, links_from, mutual_links
from smooth_clir.wikipedia.collection.read_tables import Pairs
from smooth_clir.wikipedia.collection.wiki import MISSING, Articles


@dataclass(frozen=True)
class Counterparts:
    """The MR document of each article of the queries' wiki: the article about the same thing in the other wiki.

    Attributes:
      documents: [articles], articles of the documents' wiki, or `MISSING`.
      is_lost: [articles], whether the article has only links to pages that are not in the dump.
      counts: the links by their outcome.
    """

    documents: npt.NDArray[np.int32]
    is_lost: npt.NDArray[np.bool_]
    counts: Mapping[str, int]


def find_counterparts(
    queries: Articles,
    documents: Articles,
    from_queries: Iterable[Pairs],
    from_documents: Iterable[Pairs],
    sitelinks: Iterable[Pairs],
) -> Counterparts:
    """Finds MR documents: by the query page's language link, then by the document's, then by Wikidata.

    Titles lead through redirects to articles. If a page has several links, the first counts.

    Args:
      queries: the queries' wiki.
      documents: the documents' wiki.
      from_queries: parts of the language links from the queries' wiki to the documents' wiki.
      from_documents: parts of the language links in the other direction.
      sitelinks: parts of Wikidata's links: title hashes in the queries' wiki, and in the documents' wiki.
    """
    counterparts = np.full(len(queries), MISSING, np.int32)
    is_linked = np.zeros(len(queries), np.bool_)
    counts = dict.fromkeys(("links", "of_no_article", "lost", "used", "as_before", "otherwise"), 0)

    def add(sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]) -> None:
        known = sources != MISSING
        counts["links"] += len(sources)
        counts["of_no_article"] += int((~known).sum())
        sources, targets = sources[known], targets[known]
        is_linked[sources] = True
        has_target = targets != MISSING
        counts["lost"] += int((~has_target).sum())
        sources, first = np.unique(sources[has_target], return_index=True)
        targets = targets[has_target][first]
        counts["otherwise"] += int(has_target.sum()) - len(sources)
        new = counterparts[sources] == MISSING
        counts["used"] += int(new.sum())
        counts["as_before"] += int((counterparts[sources] == targets).sum())
        counts["otherwise"] += int((~new & (counterparts[sources] != targets)).sum())
        counterparts[sources[new]] = targets[new]

    for page_ids, titles in from_queries:
        add(queries.find_ids(page_ids), documents.find(titles))
    for page_ids, titles in from_documents:
        # In the other direction; a document's link to a missing article says nothing about the queries' wiki.
        add(queries.find(titles), documents.find_ids(page_ids))
    for query_titles, document_titles in sitelinks:
        add(queries.find(query_titles), documents.find(document_titles))
    return Counterparts(counterparts, is_linked & (counterparts == MISSING), counts)


Relevance: TypeAlias = Callable[[int], Mapping[int, int]]
"""Maps an article of the queries' wiki to its relevant articles of the documents' wiki, with their grades, MR first.
Empty without an MR document."""


def relevance_across_wikis(counterparts: Counterparts, links: Links, is_used: npt.NDArray[np.bool_]) -> Relevance:
    """Returns the relevance of another wiki: MR is the counterpart there; SR are the articles with mutual links to it.

    Args:
      counterparts: the MR document of each article.
      links: the links of the documents' wiki.
      is_used: [articles of that wiki], whether an article is a document.
    """
    mutual = mutual_links(links)

    def grades(article: int) -> Mapping[int, int]:
        most_relevant = int(counterparts.documents[article])
        if most_relevant == MISSING or not is_used[most_relevant]:
            return {}
        partners = links_from(mutual, most_relevant)
        return {most_relevant: MOST_RELEVANT} | dict.fromkeys(partners[is_used[partners]].tolist(), SOMEWHAT_RELEVANT)

    return grades


def relevance_within_wiki(links: Links, is_used: npt.NDArray[np.bool_]) -> Relevance:
    """Returns the relevance within a wiki: MR are articles with mutual links to the query's; SR are other link targets.

    Args:
      links: the links of the wiki.
      is_used: [articles], whether an article is a document.
    """
    mutual = mutual_links(links)

    def grades(article: int) -> Mapping[int, int]:
        graded: dict[int, int] = {}
        for grade_links, grade in ((mutual, MOST_RELEVANT), (links, SOMEWHAT_RELEVANT)):
            linked = links_from(grade_links, article)
            for linked_article in linked[is_used[linked]].tolist():
                graded.setdefault(linked_article, grade)
        return graded if MOST_RELEVANT in graded.values() else {}

    return grades


def capped(grades: Mapping[int, int], limit: int | None, article: int) -> Mapping[int, int]:
    """Returns grades with at most `limit` SR documents, drawn by a hash of both articles.

    Example:
      >>> len(capped({7: 2, 1: 1, 2: 1, 3: 1}, 2, article=7))
      3
    """
    somewhat = [document for document, grade in grades.items() if grade == SOMEWHAT_RELEVANT]
    if limit is None or len(somewhat) <= limit:
        return grades
    kept = sorted(somewhat, key=lambda document: stable_hash("somewhat", str(article), str(document)))[:limit]
    left_out = set(somewhat).difference(kept)
    return {document: grade for document, grade in grades.items() if document not in left_out}
