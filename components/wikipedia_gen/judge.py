"""The judgments of a page's queries, as the paper has them (section 5, Datasets)."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from components.wikipedia_gen.counterparts import Counterparts
from components.wikipedia_gen.page_links import Edges, mutual, targets
from components.wikipedia_gen.wiki import NOT_FOUND
from schemas.relevance import MOST_RELEVANT, SOMEWHAT_RELEVANT
from schemas.splits import stable_hash


class Relevance(Protocol):
    """Which documents are relevant to the queries of an article."""

    def grades(self, article: int) -> Mapping[int, int]:
        """Articles of the documents' wiki to their grades, MR documents first; none where no MR document is there."""
        ...


class OtherLanguage:
    """MR is the counterpart in the other wiki; SR are the articles with mutual links to it.

    Args:
      counterparts: the MR document of each article.
      links: of the documents' wiki.
      is_used: [articles of that wiki], whether an article is a document.
    """

    def __init__(self, counterparts: Counterparts, links: Edges, is_used: npt.NDArray[np.bool_]) -> None:
        self._documents = counterparts.documents
        self._mutual = mutual(links)
        self._is_used = is_used

    def grades(self, article: int) -> Mapping[int, int]:
        most_relevant = int(self._documents[article])
        if most_relevant == NOT_FOUND or not self._is_used[most_relevant]:
            return {}
        partners = targets(self._mutual, most_relevant)
        return {most_relevant: MOST_RELEVANT} | dict.fromkeys(
            partners[self._is_used[partners]].tolist(), SOMEWHAT_RELEVANT
        )


class SameWiki:
    """MR are the articles with mutual links to the query's own; SR are those that it links to one way.

    Args:
      links: of the wiki.
      is_used: [articles], whether an article is a document.
    """

    def __init__(self, links: Edges, is_used: npt.NDArray[np.bool_]) -> None:
        self._links = links
        self._mutual = mutual(links)
        self._is_used = is_used

    def grades(self, article: int) -> Mapping[int, int]:
        grades: dict[int, int] = {}
        for links, grade in ((self._mutual, MOST_RELEVANT), (self._links, SOMEWHAT_RELEVANT)):
            linked = targets(links, article)
            for other in linked[self._is_used[linked]].tolist():
                grades.setdefault(other, grade)
        return grades if MOST_RELEVANT in grades.values() else {}


def capped(grades: Mapping[int, int], most: int | None, article: int) -> Mapping[int, int]:
    """Grades with at most so many SR documents, drawn by a hash of both articles.

    Example:
      >>> len(capped({7: 2, 1: 1, 2: 1, 3: 1}, 2, article=7))
      3
    """
    somewhat = [other for other, grade in grades.items() if grade == SOMEWHAT_RELEVANT]
    if most is None or len(somewhat) <= most:
        return grades
    kept = sorted(somewhat, key=lambda other: stable_hash("somewhat", str(article), str(other)))[:most]
    left_out = set(somewhat).difference(kept)
    return {other: grade for other, grade in grades.items() if other not in left_out}
