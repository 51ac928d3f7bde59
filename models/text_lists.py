"""Query lists as texts, read from ExampleGen's examples."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from schemas import features as f


@dataclass(frozen=True)
class TextList:
    """One query and its documents, all texts UTF-8.

    Attributes:
      query_id, query_text: of the query.
      doc_ids, doc_texts: [list_size].
      grades: int64 [list_size].
    """

    query_id: bytes
    query_text: bytes
    doc_ids: list[bytes]
    doc_texts: list[bytes]
    grades: npt.NDArray[np.int64]


def read_text_lists(files: Iterable[str]) -> list[TextList]:
    """Reads raw listwise examples (gzipped TFRecords), sorted by query id."""
    lists = []
    for record in tf.data.TFRecordDataset(sorted(files), "GZIP").as_numpy_iterator():
        feature = tf.train.Example.FromString(record).features.feature
        lists.append(
            TextList(
                query_id=feature[f.QUERY_ID].bytes_list.value[0],
                query_text=feature[f.QUERY_TEXT].bytes_list.value[0],
                doc_ids=list(feature[f.DOC_ID].bytes_list.value),
                doc_texts=list(feature[f.DOC_TEXT].bytes_list.value),
                grades=np.asarray(feature[f.RELEVANCE].int64_list.value, np.int64),
            )
        )
    return sorted(lists, key=lambda text_list: text_list.query_id)
