"""Ranks documents for a query with an exported model."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from models.exported import load_model
from models.ranking import rank
from schemas.wikiclir import Text

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

    Raises:
      DataError: the model cannot be loaded.
    """

    def __init__(self, model_path: str, documents: Sequence[Text]) -> None:
        self._model = load_model(model_path, "encode_query", "encode_document")
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
        """The best documents for a query, best first; none where the model knows no word of the query."""
        vector = self._model.signatures["encode_query"](query=tf.constant([query]))["vector"].numpy()[0]
        if not vector.any():
            return []
        scores = self._vectors @ vector
        return [
            RankedDocument(number, float(scores[place]), self._documents[place].id, self._documents[place].title)
            for number, place in enumerate(rank(scores, self._doc_ids)[:top], 1)
        ]
