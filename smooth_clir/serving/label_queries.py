"""Labels queries of a collection without judgments with the first document of a search, if its margin is large.

A query's margin is the score of the first document less that of the second. Only the share of answered queries with the
largest margins is labelled. The labels are pairs of texts for a lexicon to learn from.
"""

import logging
from collections.abc import Sequence
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np

from models.time_left import TimeLeft
from schemas.drops import Drop, DropCounter, DropReason, ReadReport
from schemas.errors import DataError
from schemas.wikiclir import Text, excerpt_of
from smooth_clir.retrieval.engine import Engine

progress_log = logging.getLogger("clir.progress")

_LOGGED_EVERY: Final = 50
_QUANTILES: Final = {"smallest": 0.0, "median": 0.5, "largest": 1.0}


class LabelReason(DropReason):
    """The reasons for a query without a label."""

    UNANSWERED = ("the model knows no word of the query", False)
    SMALL_MARGIN = ("margin too small for the share", False)


class Labels(NamedTuple):
    """Labelled queries, and a report on them."""

    pairs: list[str]
    """The text of each labelled query and that of its document, tab-separated, in the order of the queries."""
    queries: ReadReport
    share: float
    """The requested share of the answered queries."""
    margins: dict[str, float]
    """The smallest, the median and the largest margin of the queries with an answer."""
    least_kept: float
    """The smallest margin of the labelled queries."""
    documents: int
    """The number of searched documents."""
    labelled_documents: int
    """The number of different documents among the labels."""
    model_version: str
    index_version: str

    def describe(self) -> list[str]:
        """Returns the report as lines for a person."""
        margins = ", ".join(f"{name} {margin:.4f}" for name, margin in self.margins.items())
        return [
            f"queries: {self.queries.describe()}",
            f"margins: {margins}; smallest of the labelled queries {self.least_kept:.4f}",
            f"documents: {self.labelled_documents:,} of {self.documents:,} are labels",
        ]

    def as_dict(self) -> dict[str, Any]:
        """Returns the report for JSON, without the pairs."""
        report = {**self._asdict(), "queries": self.queries.as_dict()}
        del report["pairs"]
        return report


class _Answer(NamedTuple):
    """A query with an answer."""

    query: Text
    doc_id: str
    text: str
    margin: float


def label_queries(queries: Sequence[Text | Drop], path: str, engine: Engine, share: float) -> Labels:
    """Searches for each query, and labels the share with the largest margins.

    Args:
      queries: the records of a file, in order, and a drop for each bad line.
      path: the file's path.
      engine: the index, and the model that made it.
      share: in (0, 1]; at least one query is labelled.

    Raises:
      DataError: the index holds fewer than two documents, or no query has an answer.
    """
    if engine.documents < 2:
        raise DataError(f"the index must hold two documents or more, to have margins; got {engine.documents}.")
    left_out, time_left = DropCounter(), TimeLeft(0, len(queries))
    answers: list[_Answer] = []
    for number, item in enumerate(queries):
        if number and number % _LOGGED_EVERY == 0:
            progress_log.info("%s of %s queries, %s left", f"{number:,}", f"{len(queries):,}", time_left.after(number))
        if isinstance(item, Drop):
            left_out.add(item)
            continue
        excerpt = excerpt_of(f"{item.id} | {item.text}")
        hits = engine.search(item.text, 2, with_snippets=False, with_texts=True).results
        if not hits:
            left_out.add(Drop(LabelReason.UNANSWERED, path, item.line, excerpt))
            continue
        # If only one document has words of the query, the second score is 0.
        margin = hits[0].score - (hits[1].score if len(hits) > 1 else 0.0)
        answers.append(_Answer(item, hits[0].doc_id, hits[0].text or "", margin))
    if not answers:
        raise DataError(f"{path}: the index answers none of the queries on {len(queries):,} lines.")
    is_labelled = among_largest([answer.margin for answer in answers], share)
    for answer in compress(answers, [not is_kept for is_kept in is_labelled]):
        excerpt = excerpt_of(f"{answer.query.id} | {answer.doc_id} | {answer.margin:.4f}")
        left_out.add(Drop(LabelReason.SMALL_MARGIN, path, answer.query.line, excerpt))
    labelled = list(compress(answers, is_labelled))
    margins = [answer.margin for answer in answers]
    return Labels(
        pairs=[f"{answer.query.text}\t{answer.text}" for answer in labelled],
        queries=ReadReport(path, len(queries), len(labelled), left_out.drops()),
        share=share,
        margins={name: float(np.quantile(margins, quantile)) for name, quantile in _QUANTILES.items()},
        least_kept=min(answer.margin for answer in labelled),
        documents=engine.documents,
        labelled_documents=len({answer.doc_id for answer in labelled}),
        model_version=engine.model_version,
        index_version=engine.index_version,
    )


def among_largest(margins: Sequence[float], share: float) -> list[bool]:
    """Returns for each margin whether it is in the share of the largest; of equal margins the first come first.

    Args:
      margins: the margins of at least one query.
      share: in (0, 1]; at least one margin is in it.

    Example:
      >>> among_largest([0.3, 0.1, 0.2, 0.2], share=0.5)
      [True, False, True, False]
    """
    order = sorted(range(len(margins)), key=lambda row: -margins[row])
    largest = set(order[: max(1, round(share * len(margins)))])
    return [row in largest for row in range(len(margins))]
