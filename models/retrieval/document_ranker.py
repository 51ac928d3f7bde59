"""Ranks documents for a query with an exported model."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.choices import SCORES
from models.exported.explanation import ScorePart
from models.exported.model import LoadedModel
from models.retrieval.drift import drift_of_texts
from models.retrieval.inverted_index import InvertedIndex, TermMatrix
from models.retrieval.ranking import rank
from schemas.wikiclir import Text

BEST: Final = 2
SHARPNESS: Final = 4.0

_BATCH: Final = 1024


class Feedback:
    """Pseudo-relevance feedback: a second pass that takes the best documents of the first for relevant ones.

        s'(d) = s(d) + gain sd(s) sum over the BEST documents t of w(t) cos(v(d), v(t))
        w = softmax over these t of SHARPNESS s(t) / sd(s)

    with s the scores of a query's documents, sd their standard deviation, and v(d) the weights of the terms that a
    document holds itself: BM25's weights, where the channel of words that match is a lexicon's or BM25.

    Args:
      model: an exported model with the signature `own_terms`.
      texts: the documents' texts, string [documents].
      gain: float > 0.
    """

    def __init__(self, model: LoadedModel, texts: tf.Tensor, gain: float) -> None:
        self._gain = gain
        terms = TermMatrix()
        for start in range(0, len(texts), _BATCH):
            found = model.tensors("own_terms", document=texts[start : start + _BATCH])
            terms.add(found["stems"], found["weights"])
        rows = terms.rows()
        norms = sparse.linalg.norm(rows, axis=1)
        self._unit_vectors = sparse.diags(np.divide(1, norms, where=norms > 0, out=np.zeros_like(norms))) @ rows

    def added(
        self, scores: npt.NDArray[np.float32], doc_ids: Sequence[bytes], rows: npt.NDArray[np.int32] | None = None
    ) -> npt.NDArray[np.float32]:
        """Returns s' - s.

        Args:
          scores: s, float32 [list_size].
          doc_ids: ids of the same documents; they break ties.
          rows: rows of these documents among the texts; None for all.

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
    relevant_share: float | None = None
    """The share of relevant documents among those with this score; None where the model has no shares, where its drift
    from the documents warns, and after a second pass, which changes scores."""
    parts: tuple[ScorePart, ...] = ()
    """Parts of the score, where they were asked for."""


class DocumentRanker:
    """Ranks documents for any number of queries; where the model has vectors, each document is encoded once.

    Args:
      model: the exported model; with feedback it needs the signature `own_terms`.
      documents: the documents.
      feedback: gain of a second pass, see `Feedback`; 0 for none.

    Attributes:
      why_no_shares: the reason why the model's shares of relevant documents do not hold for the documents; None where
        they do, or where it has none.
    """

    def __init__(self, model: LoadedModel, documents: Sequence[Text], feedback: float = 0.0) -> None:
        self._model = model
        self._documents = documents
        self._doc_ids = [document.id.encode() for document in documents]
        texts = [document.text for document in documents]
        self._batches = [tf.constant(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        self._scores = self._by_encodings() if model.has("encode_document") else self._score
        self._feedback = Feedback(model, tf.constant(texts), feedback) if feedback else None
        self.why_no_shares = drift_of_texts(model, texts).why_no_shares if model.relevance else None

    def rank(self, query: str, top: int, explain: bool = False) -> list[RankedDocument]:
        """Returns the best documents for a query, best first; none where the model knows no word of it.

        Args:
          query: its text.
          top: largest number of documents.
          explain: whether to add the parts of their scores.
        """
        scores = self._scores(query)
        if scores is None:
            return []
        added = self._feedback.added(scores, self._doc_ids) if self._feedback else np.zeros_like(scores)
        scores = scores + added
        best = [int(place) for place in rank(scores, self._doc_ids)[:top]]
        parts: list[tuple[ScorePart, ...]] = [()] * len(best)
        if explain:
            parts = self._model.parts(query, [self._documents[place].text for place in best])
            if self._feedback:
                second = [ScorePart(name="feedback", part=float(added[place])) for place in best]
                parts = [(*one, other) for one, other in zip(parts, second, strict=True)]
        return [
            RankedDocument(
                rank=number,
                score=float(scores[place]),
                doc_id=self._documents[place].id,
                title=self._documents[place].title,
                relevant_share=self._relevant_share(float(scores[place])),
                parts=of_it,
            )
            for number, (place, of_it) in enumerate(zip(best, parts, strict=True), 1)
        ]

    def _relevant_share(self, score: float) -> float | None:
        return None if self._feedback or self.why_no_shares else self._model.relevant_share(score)

    def _by_encodings(self) -> Callable[[str], _Scores | None]:
        """Encodes the documents, and returns a function from a query to its scores.

        A query with the zero vector, and with no term that a document answers, has no scores.
        """
        vectors, terms = [], TermMatrix()
        for batch in self._batches:
            encoded = self._model.tensors("encode_document", document=batch)
            vectors.append(encoded["vector"].numpy())
            if self._model.words_weight:
                terms.add(encoded["stems"], encoded["weights"])
        matrix, index = np.concatenate(vectors), InvertedIndex.of(terms)

        def scores(query: str) -> _Scores | None:
            encoded = self._model.encode_query(query)
            of_vectors: _Scores = matrix @ encoded.vector
            if not self._model.words_weight:
                return of_vectors if encoded.vector.any() else None
            of_terms = index.scores(encoded.terms, encoded.weights)
            return of_vectors + of_terms if encoded.vector.any() or of_terms.any() else None

        return scores

    def _score(self, query: str) -> _Scores:
        """Scores all documents with a model without vectors."""
        asked = tf.constant([query])
        scores = [self._model.tensors("score", query=asked, documents=batch[tf.newaxis]) for batch in self._batches]
        return np.concatenate([one[SCORES].numpy()[0] for one in scores])
