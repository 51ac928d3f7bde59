"""Ranks documents for a query with an exported model."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.exported import load_model, words_channel
from models.feedback import Feedback
from models.inverted_index import InvertedIndex
from models.loaded_model import LoadedModel
from models.ranking import rank
from models.score_parts import ScorePart, score_parts
from models.term_matrix import TermMatrix
from schemas.wikiclir import Text

_BATCH: Final = 1024

_Scores = npt.NDArray[np.float32]


class RankedDocument(NamedTuple):
    """A document's place in a ranking."""

    rank: int
    score: float
    doc_id: str
    title: str
    parts: tuple[ScorePart, ...] = ()
    """What the score is the sum of, where that is asked for."""


class DocumentRanker:
    """Documents for any number of queries; where the model has vectors, each document is encoded once.

    Args:
      model_path: a SavedModel of ours.
      documents: the documents.
      feedback: gain of a second pass, see `models.feedback`; 0 for none.

    Raises:
      DataError: the model cannot be loaded, or has no channel of words that match, which feedback needs.
    """

    def __init__(self, model_path: str, documents: Sequence[Text], feedback: float = 0.0) -> None:
        self._model = load_model(model_path, "score", *(["own_terms"] if feedback else []))
        self._documents = documents
        self._doc_ids = [document.id.encode() for document in documents]
        texts = [document.text for document in documents]
        self._batches = [tf.constant(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        self._scores = self._by_encodings() if "encode_document" in self._model.signatures else self._score
        self._feedback = Feedback(self._model, tf.constant(texts), feedback) if feedback else None

    def rank(self, query: str, top: int, explain: bool = False) -> list[RankedDocument]:
        """The best documents for a query, best first; none where the model knows no word of it.

        Args:
          query: its text.
          top: the most documents.
          explain: whether to tell the parts of their scores.
        """
        scores = self._scores(tf.constant([query]))
        if scores is None:
            return []
        added = self._feedback.added(scores, self._doc_ids) if self._feedback else np.zeros_like(scores)
        scores = scores + added
        best = [int(place) for place in rank(scores, self._doc_ids)[:top]]
        parts: list[tuple[ScorePart, ...]] = [()] * len(best)
        if explain:
            parts = score_parts(LoadedModel(self._model), query, [self._documents[place].text for place in best])
            if self._feedback:
                second = [ScorePart(name="feedback", part=float(added[place])) for place in best]
                parts = [(*one, other) for one, other in zip(parts, second, strict=True)]
        return [
            RankedDocument(number, float(scores[place]), self._documents[place].id, self._documents[place].title, of_it)
            for number, (place, of_it) in enumerate(zip(best, parts, strict=True), 1)
        ]

    def _by_encodings(self) -> Callable[[tf.Tensor], _Scores | None]:
        """Scores by the documents' vectors and terms, which are made now.

        There are none for a query with the zero vector and no term that a document answers.
        """
        signatures = self._model.signatures
        words = words_channel(self._model)
        weight = float(signatures["channel_weights"]()[words]) if words else 0.0
        vectors, terms = [], TermMatrix()
        for batch in self._batches:
            encoded = signatures["encode_document"](document=batch)
            vectors.append(encoded["vector"].numpy())
            if weight:
                terms.add(encoded["stems"], encoded["weights"])
        matrix, index = np.concatenate(vectors), InvertedIndex.of(terms)

        def scores(query: tf.Tensor) -> _Scores | None:
            encoded = {name: column.numpy()[0] for name, column in signatures["encode_query"](query=query).items()}
            of_vectors = matrix @ encoded["vector"]
            if not weight:
                return of_vectors if encoded["vector"].any() else None
            of_terms = index.scores(encoded["stems"], encoded["weights"])
            return of_vectors + weight * of_terms if encoded["vector"].any() or of_terms.any() else None

        return scores

    def _score(self, query: tf.Tensor) -> _Scores:
        """The scores of all documents for a query, of a model without vectors."""
        score = self._model.signatures["score"]
        return np.concatenate([score(query=query, documents=batch[tf.newaxis])["scores"][0] for batch in self._batches])
