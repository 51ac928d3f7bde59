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


def read_text_lists(files: Iterable[str], used_negatives: int | None = None) -> list[TextList]:
    """Reads raw listwise examples (gzipped TFRecords), sorted by query id.

    Args:
      files: paths of the TFRecord files.
      used_negatives: how many NR documents of a list are read; None for all.
    """
    lists = []
    for record in tf.data.TFRecordDataset(sorted(files), "GZIP").as_numpy_iterator():
        feature = tf.train.Example.FromString(record).features.feature
        places = feature[f.NEGATIVE_PLACE].int64_list.value
        used = [row for row, place in enumerate(places) if used_negatives is None or place < used_negatives]
        doc_ids, doc_texts = (feature[name].bytes_list.value for name in (f.DOC_ID, f.DOC_TEXT))
        grades = feature[f.RELEVANCE].int64_list.value
        lists.append(
            TextList(
                query_id=feature[f.QUERY_ID].bytes_list.value[0],
                query_text=feature[f.QUERY_TEXT].bytes_list.value[0],
                doc_ids=[doc_ids[row] for row in used],
                doc_texts=[doc_texts[row] for row in used],
                grades=np.asarray([grades[row] for row in used], np.int64),
            )
        )
    return sorted(lists, key=lambda text_list: text_list.query_id)
