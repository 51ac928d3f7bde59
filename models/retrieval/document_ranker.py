"""Ranks documents for a query with an exported model."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.exported.explanation import ScorePart, score_parts
from models.exported.model import LoadedModel, load_model, words_channel
from models.retrieval.inverted_index import InvertedIndex, TermMatrix
from models.retrieval.ranking import rank
from schemas.wikiclir import Text

BEST: Final = 2
SHARPNESS: Final = 4.0

_BATCH: Final = 1024


class Feedback:
    """Pseudo-relevance feedback: the best documents are taken for relevant ones.

        s'(d) = s(d) + gain sd(s) sum over the BEST documents t of w(t) cos(v(d), v(t))
        w = softmax over these t of SHARPNESS s(t) / sd(s)

    with s the scores of a query's documents, sd their standard deviation, and v(d) the weights of the terms that a
    document holds itself: those of BM25, where the channel of words that match is a lexicon's or BM25.

    Args:
      model: an exported model with the signature `own_terms`.
      texts: of the documents, string [documents].
      gain: above 0.
    """

    def __init__(self, model: Any, texts: tf.Tensor, gain: float) -> None:
        self._gain = gain
        terms = TermMatrix()
        for start in range(0, len(texts), _BATCH):
            found = model.signatures["own_terms"](document=texts[start : start + _BATCH])
            terms.add(found["stems"], found["weights"])
        rows = terms.rows()
        norms = sparse.linalg.norm(rows, axis=1)
        self._unit_vectors = sparse.diags(np.divide(1, norms, where=norms > 0, out=np.zeros_like(norms))) @ rows

    def added(
        self, scores: npt.NDArray[np.float32], doc_ids: Sequence[bytes], rows: npt.NDArray[np.int32] | None = None
    ) -> npt.NDArray[np.float32]:
        """s' - s.

        Args:
          scores: s, float32 [list_size].
          doc_ids: of the same documents; they break ties.
          rows: which of the texts these documents are; None for all.

        Returns:
          float32 [list_size].
        """
        spread = scores.std(dtype=np.float64)
        if spread == 0:  # none is better than another
            return np.zeros_like(scores)
        vectors = self._unit_vectors if rows is None else self._unit_vectors[rows]
        best = rank(scores, doc_ids)[:BEST]
        logits = SHARPNESS * scores[best] / spread
        weights = np.exp(logits - logits[0])
        likeness = vectors @ (vectors[best].T @ (weights / weights.sum()))
        added: npt.NDArray[np.float32] = (self._gain * spread * likeness).astype(np.float32)
        return added


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
      feedback: gain of a second pass, see `models.retrieval.document_ranker`; 0 for none.

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
