"""Query lists in memory, each distinct document once, and the batches that training draws from them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from schemas import features as f
from schemas.relevance import PADDING_LABEL

_PARSE_BATCH = 512


@dataclass(frozen=True)
class RankingLists:
    """The transformed query lists of one split.

    Attributes:
      query_ids: [lists], UTF-8.
      query_tokens: int RaggedTensor [lists, (tokens)].
      doc_ids: [documents], the distinct documents, UTF-8.
      document_tokens: int RaggedTensor [documents, (tokens)].
      documents: int RaggedTensor [lists, (list_size)], rows of `document_tokens`.
      grades: float RaggedTensor [lists, (list_size)].
    """

    query_ids: Sequence[bytes]
    query_tokens: tf.RaggedTensor
    doc_ids: Sequence[bytes]
    document_tokens: tf.RaggedTensor
    documents: tf.RaggedTensor
    grades: tf.RaggedTensor

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def pairs(self) -> int:
        """Query-document pairs over all lists."""
        return int(self.documents.flat_values.shape[0])

    def digest(self) -> str:
        """SHA-256 over ids, tokens, lists and grades: all that a training sees of them."""
        digest = hashlib.sha256()
        for ids in (self.query_ids, self.doc_ids):
            digest.update(b"\0".join([str(len(ids)).encode(), *ids]))
        for ragged in (self.query_tokens, self.document_tokens, self.documents, self.grades):
            for part in (ragged.row_splits, ragged.flat_values):
                digest.update(part.numpy().tobytes())
        return digest.hexdigest()

    def batch(self, rows: tf.Tensor) -> tuple[dict[str, Any], tf.Tensor]:
        """The lists `rows` (int [batch]) as `Ranker` takes them, and their grades.

        Returns:
          (features, labels): see `models.ranker.Ranker`; labels float [batch, list_size], padded with PADDING_LABEL.
        """
        documents = tf.gather(self.documents, rows)
        distinct, place = tf.unique(documents.flat_values)
        features = {
            "query_tokens": tf.gather(self.query_tokens, rows),
            "document_tokens": tf.gather(self.document_tokens, distinct),
            "document_index": documents.with_flat_values(place).to_tensor(-1),
        }
        return features, tf.gather(self.grades, rows).to_tensor(PADDING_LABEL)


def read_lists(files: Iterable[str], spec: Mapping[str, Any], used_negatives: int | None = None) -> RankingLists:
    """Reads transformed examples (gzipped TFRecords), sorted by query id.

    Args:
      files: paths of the TFRecord files of one split.
      spec: how to parse them, as `TFTransformOutput.transformed_feature_spec` tells.
      used_negatives: how many NR documents of a list are read; None for all.
    """
    dataset = tf.data.TFRecordDataset(sorted(files), "GZIP").batch(_PARSE_BATCH)
    query_ids: list[bytes] = []
    rows: dict[bytes, int] = {}
    query_tokens, document_tokens, documents, grades = [], [], [], []
    for serialized in dataset:
        example = tf.io.parse_example(serialized, dict(spec))
        query_ids.extend(example[f.QUERY_ID].numpy().tolist())
        if used_negatives is not None:
            used = example[f.NEGATIVE_PLACE] < used_negatives
            for name in (f.DOC_ID, f.DOC_TOKENS, f.RELEVANCE):
                example[name] = tf.ragged.boolean_mask(example[name], used)
        query_tokens.append(tf.cast(example[f.QUERY_TOKENS], tf.int32))
        doc_ids = example[f.DOC_ID].flat_values.numpy().tolist()
        new = []
        for place, doc_id in enumerate(doc_ids):
            if doc_id not in rows:
                rows[doc_id] = len(rows)
                new.append(place)
        tokens = example[f.DOC_TOKENS].values
        document_tokens.append(tf.cast(tf.gather(tokens, tf.constant(new, tf.int64)), tf.int32))
        documents.append(
            example[f.DOC_ID].with_flat_values(tf.constant([rows[doc_id] for doc_id in doc_ids], tf.int32))
        )
        grades.append(tf.cast(example[f.RELEVANCE], tf.float32))
    order = tf.constant(sorted(range(len(query_ids)), key=query_ids.__getitem__), tf.int32)
    return RankingLists(
        query_ids=sorted(query_ids),
        query_tokens=_gather(query_tokens, order, tf.int32),
        doc_ids=list(rows),
        document_tokens=_gather(document_tokens, tf.range(len(rows)), tf.int32),
        documents=_gather(documents, order, tf.int32),
        grades=_gather(grades, order, tf.float32),
    )


def _gather(parts: list[tf.RaggedTensor], order: tf.Tensor, dtype: tf.DType) -> tf.RaggedTensor:
    """Concatenates rows and puts them in order, with the row splits that `tf.gather` likes."""
    if not parts:
        return tf.RaggedTensor.from_row_splits(tf.constant([], dtype), tf.constant([0], tf.int64))
    return tf.gather(tf.concat(parts, axis=0), order)


def epoch_order(query_ids: Sequence[bytes], seed: int, epoch: int) -> npt.NDArray[np.int32]:
    """The order of the lists in an epoch, decided by query id, seed and epoch alone.

    Returns:
      int32 [lists], a permutation.
    """
    prefix = f"{seed}/{epoch}/".encode()
    digests = [hashlib.blake2b(prefix + query_id, digest_size=8).digest() for query_id in query_ids]
    return np.asarray(sorted(range(len(query_ids)), key=digests.__getitem__), np.int32)
