"""The queries that the search page of a model offers to those who do not know its collection."""

import heapq
import json
from collections.abc import Iterable
from typing import Final

from components.pusher.eval_lists import eval_lists
from schemas import features as f
from schemas.domains import DomainFilter

_LENGTH: Final = 40
"""Queries of about this number of characters are offered: long ones do not look like what people type."""


def example_queries(examples: Iterable[str], max_queries: int, domains: DomainFilter) -> bytes:
    """The content of `schemas.served_versions.EXAMPLES_FILE`: queries of different MR documents.

    Args:
      examples: paths of gzipped TFRecords of listwise Examples, as texts.
      max_queries: their largest number.
      domains: the domains whose queries may be shown.
    """
    nearest: dict[bytes, tuple[int, bytes, str]] = {}
    for columns in eval_lists(examples, domains):
        grades = [*columns[f.RELEVANCE].int64_list.value]
        document = columns[f.DOC_ID].bytes_list.value[grades.index(max(grades))]
        text = columns[f.QUERY_TEXT].bytes_list.value[0].decode()
        candidate = abs(len(text) - _LENGTH), columns[f.QUERY_ID].bytes_list.value[0], text
        nearest[document] = min(candidate, nearest.get(document, candidate))
    chosen = [text for _, _, text in heapq.nsmallest(max_queries, nearest.values())]
    return json.dumps(chosen, ensure_ascii=False, indent=2).encode() + b"\n"
