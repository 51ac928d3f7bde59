"""The queries that the search page of a model offers to those who do not know its collection."""

import heapq
import json
from collections.abc import Iterable
from typing import Final

import tensorflow as tf

from schemas import features as f

_LENGTH: Final = 40
"""Queries of about this number of characters are offered: long ones do not look like what people type."""


def example_queries(examples: Iterable[str], most: int) -> bytes:
    """The content of `schemas.served_versions.EXAMPLES_FILE`: queries of different MR documents.

    Args:
      examples: paths of gzipped TFRecords of listwise Examples, as texts.
      most: largest number of queries.
    """
    records = tf.data.TFRecordDataset(sorted(examples), "GZIP").as_numpy_iterator()
    nearest: dict[bytes, tuple[int, bytes, str]] = {}
    for columns in (tf.train.Example.FromString(record).features.feature for record in records):
        grades = [*columns[f.RELEVANCE].int64_list.value]
        document = columns[f.DOC_ID].bytes_list.value[grades.index(max(grades))]
        text = columns[f.QUERY_TEXT].bytes_list.value[0].decode()
        found = abs(len(text) - _LENGTH), columns[f.QUERY_ID].bytes_list.value[0], text
        nearest[document] = min(found, nearest.get(document, found))
    chosen = [text for _, _, text in heapq.nsmallest(most, nearest.values())]
    return json.dumps(chosen, ensure_ascii=False, indent=2).encode() + b"\n"
