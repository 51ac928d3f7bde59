"""Ranks documents for a query with an exported model."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that an exported model holds)

from models.metrics import rank
from schemas.errors import DataError
from schemas.wikiclir import Drop, Text, parse_texts

_BATCH = 1024


class RankedDocument(NamedTuple):
    """A document's place in a ranking."""

    rank: int
    score: float
    doc_id: str
    title: str


class DocumentRanker:
    """Documents encoded once, for any number of queries.

    Args:
      model_path: a SavedModel of ours.
      documents: the documents.
    """

    def __init__(self, model_path: str, documents: Sequence[Text]) -> None:
        self._model = tf.saved_model.load(model_path)
        self._documents = documents
        self._doc_ids = [document.id.encode() for document in documents]
        encode = self._model.signatures["encode_document"]
        self._vectors = np.concatenate(
            [
                encode(document=tf.constant([document.text for document in documents[i : i + _BATCH]]))["vector"]
                for i in range(0, len(documents), _BATCH)
            ]
        )

    def rank(self, query: str, top: int) -> list[RankedDocument]:
        """The best documents for a query, best first."""
        vector = self._model.signatures["encode_query"](query=tf.constant([query]))["vector"].numpy()[0]
        scores = self._vectors @ vector
        return [
            RankedDocument(number, float(scores[place]), self._documents[place].id, self._documents[place].title)
            for number, place in enumerate(rank(scores, self._doc_ids)[:top], 1)
        ]


def read_documents(path: str) -> tuple[list[Text], list[str]]:
    """Reads a documents file, or stdin for `-`.

    Returns:
      the documents, and a line for each reason for which records were left out.

    Raises:
      DataError: the file cannot be read, or holds no document.
    """
    try:
        with _open(path) as stream:
            items = list(parse_texts(stream, path))
    except OSError as error:
        raise DataError(f"documents: {path}: {error.strerror}.") from None
    documents = [item for item in items if isinstance(item, Text)]
    drops = [item for item in items if isinstance(item, Drop)]
    first = {drop.reason: drop for drop in reversed(drops)}
    lines = [
        f"{path}: left out {count:,} x {reason.text}; first at line {first[reason].line}: {first[reason].excerpt}"
        for reason, count in Counter(drop.reason for drop in drops).items()
    ]
    if not documents:
        raise DataError("\n".join([f"{path} must hold a document: id, title and text, tab-separated.", *lines]))
    return documents, lines


def _open(path: str) -> BinaryIO:
    return sys.stdin.buffer if path == "-" else open(path, "rb")
