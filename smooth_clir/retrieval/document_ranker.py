"""Ranks documents for a query with an exported model."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.choices import SCORES
from models.exported.explanation import ScorePart, feedback_part
from models.exported.model import LoadedModel
from models.lists.feedback import similarity_of
from models.lists.ranking import rank
from models.texts.term_matrix import TermMatrix
from schemas.passages import document_of, passage_number
from schemas.wikiclir import Text
from smooth_clir.retrieval.drift import drift_of_texts
from smooth_clir.retrieval.inverted_index import InvertedIndex

_BATCH: Final = 1024


_Scores = npt.NDArray[np.float32]


class RankedDocument(NamedTuple):
    """A document in a ranking."""

    rank: int
    score: float
    doc_id: str
    title: str
    text: str
    """The document's text, or that of its best passage."""
    passage: int | None = None
    """Number of the best passage, from 0; None for a whole document."""
    relevant_share: float | None = None
    """The share of relevant documents among those with this score in the first pass; None if the model has no shares,
    or if they do not hold for the documents."""
    feedback: float | None = None
    """The second pass's part of the score; None without a second pass."""
    parts: tuple[ScorePart, ...] = ()
    """Parts of the score, if requested."""


class DocumentRanker:
    """Ranks documents for any number of queries; encodes each document once, if the model has vectors.

    Args:
      model: the exported model.
      documents: the documents.
      gain: gain of the second pass; None for the model's own, 0 for no second pass.

    Attributes:
      feedback: the second pass.
      why_no_shares: the reason why the model's shares of relevant documents do not hold for the documents; None if
        they do, or if the model has no shares.

    Raises:
      DataError: the model has no words that match, which a second pass needs.
    """

    def __init__(self, model: LoadedModel, documents: Sequence[Text], gain: float | None = None) -> None:
        self.feedback = model.second_pass(gain)
        self._model = model
        self._documents = [*chain.from_iterable(map(model.split, documents))]
        self._doc_ids = [document.id.encode() for document in self._documents]
        texts = [document.text for document in self._documents]
        self._batches = [tf.constant(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        self._scores = self._by_encodings() if model.has("encode_document") else self._score
        self._similarity = similarity_of(model.own_vectors(texts)[1]) if self.feedback.gain else None
        self.why_no_shares = drift_of_texts(model, texts).why_no_shares if model.relevance else None

    def rank(self, query: str, top: int, explain: bool = False) -> list[RankedDocument]:
        """Returns the best documents for a query, best first; none if the model knows no word of the query.

        Args:
          query: its text.
          top: largest number of documents.
          explain: whether to add the parts of their scores.
        """
        scores = self._scores(query)
        if scores is None:
            return []
        added = np.zeros_like(scores)
        if self._similarity:
            added = self.feedback.added(scores, rank(scores, self._doc_ids), self._similarity)
        scores = scores + added
        best_of: dict[str, int] = {}
        for row in rank(scores, self._doc_ids).tolist():
            best_of.setdefault(document_of(self._documents[row].id), row)
        best = [*best_of.values()][:top]
        parts: list[tuple[ScorePart, ...]] = [()] * len(best)
        if explain:
            parts = self._model.parts(query, [self._documents[row].text for row in best])
            if self._similarity:
                parts = [(*first, feedback_part(float(added[row]))) for first, row in zip(parts, best, strict=True)]
        return [
            RankedDocument(
                rank=number,
                score=float(scores[row]),
                doc_id=document_of(self._documents[row].id),
                title=self._documents[row].title,
                text=self._documents[row].text,
                passage=passage_number(self._documents[row].id),
                relevant_share=self._relevant_share(float(scores[row] - added[row])),
                feedback=float(added[row]) if self._similarity else None,
                parts=document_parts,
            )
            for number, (row, document_parts) in enumerate(zip(best, parts, strict=True), 1)
        ]

    def _relevant_share(self, score: float) -> float | None:
        return None if self.why_no_shares else self._model.relevant_share(score)

    def _by_encodings(self) -> Callable[[str], _Scores | None]:
        """Encodes the documents, and returns a function from a query to its scores.

        A query has no scores if its vector is zero and none of its terms matches a document.
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
            vector_scores: _Scores = matrix @ encoded.vector
            if not self._model.words_weight:
                return vector_scores if encoded.vector.any() else None
            term_scores = index.scores(encoded.terms, encoded.weights)
            return vector_scores + term_scores if encoded.vector.any() or term_scores.any() else None

        return scores

    def _score(self, query: str) -> _Scores:
        """Scores all documents with a model without vectors."""
        text = tf.constant([query])
        scores = [self._model.tensors("score", query=text, documents=batch[tf.newaxis]) for batch in self._batches]
        return np.concatenate([outputs[SCORES].numpy()[0] for outputs in scores])
