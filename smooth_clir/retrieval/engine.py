"""A model and an index that answer together: search, ranking, explanation."""

import math
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from models.choices import SCORES
from models.encoders.load_encoder import EndpointLimits
from models.exported.explanation import feedback_part
from models.exported.model import ExportedModel
from models.lists.feedback import similarity_of
from schemas.errors import DataError
from schemas.passages import document_of, passage_number
from schemas.wikiclir import Text
from smooth_clir.retrieval.answers import Collection, ExplainAnswer, Hit, NotFound, RankAnswer, RankedText, SearchAnswer
from smooth_clir.retrieval.best_passages import search_documents
from smooth_clir.retrieval.drift import drifts_of_texts
from smooth_clir.retrieval.search_index import DEPTH, IndexHit, SearchIndex
from smooth_clir.retrieval.snippet import CHARACTERS, make_snippet, matching_words
from smooth_clir.retrieval.where import Where

_WARM_CHARACTERS: Final = 200
_NO_OWN_TERMS: Final = (
    "the index holds no own terms of its documents; `clir index` writes them for a model that has a second pass "
    "(feedback.gain)"
)
_ENDPOINT: Final = EndpointLimits(retries=0, timeout_s=5.0, answers_per_probe=100)
"""A slow endpoint must not block the service's threads. A restart of the endpoint shows by a new connection; if a
gateway keeps the old connection, up to 100 answers may be another encoder's. A probe is six short texts: 6 % of the
queries."""


class Languages(NamedTuple):
    """ISO 639-1 codes."""

    query: str
    document: str


class Engine:
    """A version of an index, and the model that made it.

    Args:
      model: the model; the caller has compared its fingerprint with the index's.
      index: the index.
      index_version: the index's number.
      languages: languages of queries and documents, if known.
      examples: queries that the page offers.
      gain: gain of the second pass of a search; None for the model's own, 0 for no second pass.

    Attributes:
      documents: number of documents in the index.
      feedback: the second pass of a search.
      why_first_pass: the reason why a search leaves out the second pass; None if it does not.
      drift: distance of the documents from the model's.
      why_no_shares: the reason why the model's shares of relevant documents do not hold for the index; None if they do,
        or if the model has no shares.
      can_explain: whether the model has the signature that explanations need.
    """

    def __init__(
        self,
        model: ExportedModel,
        index: SearchIndex,
        index_version: str,
        languages: Languages | None = None,
        examples: Sequence[str] = (),
        gain: float | None = None,
    ) -> None:
        self._model, self._index, self._identity = model, index, index.identity
        model.endpoint_limits = _ENDPOINT
        self.model_version, self.index_version, self.languages = model.version, index_version, languages
        self._examples = tuple(examples)
        self.documents = len(index)
        self.drift = index.drift
        self.feedback, self.why_first_pass = model.second_pass(gain), None
        if self.feedback.gain and not index.has_own_terms:
            self.feedback, self.why_first_pass = self.feedback._replace(gain=0.0), _NO_OWN_TERMS
        self.why_no_shares = index.drift.why_no_shares if model.relevance else None
        self.can_explain = model.can_explain

    def search(
        self,
        query: str,
        limit: int,
        with_snippets: bool,
        with_texts: bool,
        where: str | None = None,
        snippet_characters: int = CHARACTERS,
    ) -> SearchAnswer:
        """Finds the best documents of the whole collection; none if the model knows no word of the query.

        Args:
          query: a text.
          limit: largest number of documents.
          with_snippets, with_texts: whether each result has its snippet, and its whole text.
          where: a filter, see `smooth_clir.retrieval.where`.
          snippet_characters: longest snippet.

        Raises:
          ConfigError: the filter is wrong for this index.
        """
        started = time.perf_counter()
        encoded, condition = self._model.encode_query(query), self._where(where)
        hits = search_documents(lambda wanted: self._index.search(encoded, wanted, self.feedback, condition), limit)
        characters = snippet_characters if with_snippets else None
        results = tuple(
            self._hit(query, rank, hit, document, characters, with_texts)
            for rank, (hit, document) in enumerate(zip(hits, self._texts(hits), strict=True), 1)
        )
        signs = self._model.why_no_good_answer(query, [result.score - result.feedback for result in results])
        return SearchAnswer(
            no_good_answer=self._is_judged(signs),
            why_no_good_answer=signs,
            query=query,
            results=results,
            documents=self.documents,
            milliseconds=_since(started),
            **self._versions(),
        )

    def rank(self, query: str, documents: Sequence[str]) -> RankAnswer:
        """Ranks texts by their scores after the model's second pass; they need not be in the index."""
        started = time.perf_counter()
        documents = self._model.best_passages(query, documents)
        first = scores = [_finite(score) for score in self._model.score(query, documents)[SCORES]]
        if self._model.feedback.gain:
            array, (_, vectors) = np.array(first, np.float32), self._model.own_vectors(documents)
            added = self._model.feedback.added(array, np.argsort(-array, kind="stable"), similarity_of(vectors))
            scores = (array + added).tolist()
        why_no_shares = self._why_no_shares(documents)
        order = sorted(range(len(scores)), key=lambda position: -scores[position])
        ranked = tuple(
            RankedText(
                rank=rank,
                position=position,
                score=scores[position],
                relevant_share=self._share(first[position], why_no_shares[position]),
            )
            for rank, position in enumerate(order, 1)
        )
        signs = self._model.why_no_good_answer(query, first)
        return RankAnswer(
            no_good_answer=self._is_judged(signs),
            why_no_good_answer=signs,
            documents=ranked,
            milliseconds=_since(started),
            **self._versions(),
        )

    def explain(self, query: str, place: str | None, text: str | None, where: str | None = None) -> ExplainAnswer:
        """Explains the score of a document, or of a text.

        Args:
          query: a text.
          place: a document's place, from a search.
          text: a text, instead of a place.
          where: the filter of the search, on which the second pass depends.

        Raises:
          NotFound: the model cannot explain, or no document has this place.
          ConfigError: the filter is wrong for this index.
        """
        started = time.perf_counter()
        condition = self._where(where)
        if not self.can_explain:
            raise NotFound(
                "This model cannot explain: it lacks the signature explain_words. Export it again with `clir run`."
            )
        document = self._document(place) if place is not None else None
        content = document.text if document else text or ""
        explanation = self._model.explain(query, content)
        score = first = _finite(sum(part.part for part in explanation.parts))
        if place is not None and self.feedback.gain:
            hits = self._index.search(self._model.encode_query(query), DEPTH, self.feedback, condition)
            added = next((hit.feedback for hit in hits if f"{hit.position}@{self._identity}" == place), 0.0)
            explanation = explanation.model_copy(update={"parts": (*explanation.parts, feedback_part(added))})
            score = first + added
        return ExplainAnswer(
            query=query,
            doc_id=document_of(document.id) if document else None,
            title=document.title if document else None,
            text=content,
            score=score,
            relevant_share=self._share(first, self.why_no_shares if document else self._why_no_shares([content])[0]),
            explanation=explanation,
            milliseconds=_since(started),
            **self._versions(),
        )

    def collection(self, most_query_characters: int, most_k: int) -> Collection:
        """Describes the collection, and two limits of the service."""
        query_language, document_language = self.languages or (None, None)
        return Collection(
            documents=self.documents,
            has_passages=self._model.passages is not None,
            query_language=query_language,
            document_language=document_language,
            can_explain=self.can_explain,
            drift=self.drift,
            why_no_shares=self.why_no_shares,
            feedback=self.feedback.gain,
            why_first_pass=self.why_first_pass,
            fields=dict(self._index.fields),
            most_query_characters=most_query_characters,
            most_k=most_k,
            example_queries=tuple(example for example in self._examples if len(example) <= most_query_characters),
            **self._versions(),
        )

    def warm(self) -> None:
        """Calls every method once: the first call of each is slow."""
        document = next(self._index.documents(), None)
        text = document.text[:_WARM_CHARACTERS] if document else "-"
        self.search(text, 1, with_snippets=True, with_texts=False)
        self.rank(text, [text])
        if self.can_explain:
            self.explain(text, None, text)

    def close(self) -> None:
        """Ends the connection to a TF Serving, if there is one."""
        if callable(close := getattr(self._model, "close", None)):
            close()

    def _where(self, text: str | None) -> Where | None:
        return None if text is None else Where.parse(text, self._index.fields)

    def _hit(
        self, query: str, rank: int, hit: IndexHit, document: Text, characters: int | None, with_text: bool
    ) -> Hit:
        snippet = None
        if characters is not None:
            snippet = make_snippet(document.text, matching_words(self._model, query, document.text), characters)
        return Hit(
            rank=rank,
            doc_id=document_of(document.id),
            passage=passage_number(document.id),
            title=document.title,
            fields={name: value for name, value in zip(self._index.fields, document.fields, strict=True) if value},
            score=_finite(hit.score),
            dense=hit.dense,
            words=hit.words,
            feedback=hit.feedback,
            relevant_share=self._share(hit.score - hit.feedback, self.why_no_shares),
            place=f"{hit.position}@{self._identity}",
            snippet=snippet,
            text=document.text if with_text else None,
        )

    def _texts(self, hits: Sequence[IndexHit]) -> list[Text]:
        """Returns the texts of a search's hits.

        Raises:
          DataError: the index lacks a document; an index in an engine may change during a search.
        """
        try:
            documents = self._index.texts([hit.position for hit in hits])
        except LookupError as error:
            raise DataError(f"The index has no document at place {error}, which a search found.") from None
        for hit, document in zip(hits, documents, strict=True):
            if document.id.encode() != hit.doc_id:
                raise DataError(
                    f"The index changed during a search: place {hit.position} held {hit.doc_id.decode()!r}, then "
                    f"{document.id!r}."
                )
        return documents

    def _why_no_shares(self, texts: Sequence[str]) -> list[str | None]:
        """Returns `why_no_shares` for each text; the texts need not be in the index."""
        if not self._model.relevance:
            return [None] * len(texts)
        return [drift.why_no_shares for drift in drifts_of_texts(self._model, texts)]

    def _share(self, score: float, why_no_shares: str | None) -> float | None:
        """Returns the share of relevant documents at a score of the first pass, if the shares hold."""
        return None if why_no_shares else self._model.relevant_share(score)

    def _document(self, place: str) -> Text:
        in_index, separator, identity = place.rpartition("@")
        if separator and identity != self._identity:
            raise NotFound(
                f"place must be of the searched index, …@{self._identity}; got {place[:80]!r}. Search again."
            )
        try:
            return self._index.texts([in_index])[0]
        except LookupError:
            raise NotFound(f"place must come from a search; got {place[:80]!r}.") from None

    def _is_judged(self, signs: str | None) -> bool | None:
        """Returns whether there are signs of no good answer; None if the model has no shares."""
        return signs is not None if self._model.relevance else None

    def _versions(self) -> dict[str, str]:
        return {"model_version": self.model_version, "index_version": self.index_version}


def _finite(score: float) -> float:
    """Returns a finite score.

    Raises:
      DataError: the score is not finite.
    """
    if not math.isfinite(score):
        raise DataError(f"a score of the model must be finite; got {score}. Its weights are damaged: push another.")
    return score


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
