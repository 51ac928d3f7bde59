"""Ranks documents for a query with an exported model."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.exported import load_model
from models.ranking import rank
from schemas.wikiclir import Text

_BATCH: Final = 1024


class RankedDocument(NamedTuple):
    """A document's place in a ranking."""

    rank: int
    score: float
    doc_id: str
    title: str


class DocumentRanker:
    """Documents for any number of queries; where the model has vectors, each document is encoded once.

    Args:
      model_path: a SavedModel of ours.
      documents: the documents.

    Raises:
      DataError: the model cannot be loaded.
    """

    def __init__(self, model_path: str, documents: Sequence[Text]) -> None:
        self._model = load_model(model_path, "score")
        self._documents = documents
        self._doc_ids = [document.id.encode() for document in documents]
        texts = [document.text for document in documents]
        self._batches = [tf.constant(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        self._scores = self._by_vectors() if "encode_document" in self._model.signatures else self._score

    def rank(self, query: str, top: int) -> list[RankedDocument]:
        """The best documents for a query, best first; none where the model has no vector of the query."""
        scores = self._scores(tf.constant([query]))
        if scores is None:
            return []
        return [
            RankedDocument(number, float(scores[place]), self._documents[place].id, self._documents[place].title)
            for number, place in enumerate(rank(scores, self._doc_ids)[:top], 1)
        ]

    def _by_vectors(self) -> Callable[[tf.Tensor], npt.NDArray[np.float32] | None]:
        """Inner products with the documents' vectors, which are made now; none with the zero vector."""
        encode_query, encode_document = (self._model.signatures[f"encode_{one}"] for one in ("query", "document"))
        vectors = np.concatenate([encode_document(document=batch)["vector"] for batch in self._batches])

        def scores(query: tf.Tensor) -> npt.NDArray[np.float32] | None:
            vector = encode_query(query=query)["vector"].numpy()[0]
            return vectors @ vector if vector.any() else None

        return scores

    def _score(self, query: tf.Tensor) -> npt.NDArray[np.float32]:
        """The scores of all documents for a query, of a model without vectors."""
        score = self._model.signatures["score"]
        return np.concatenate([score(query=query, documents=batch[tf.newaxis])["scores"][0] for batch in self._batches])
