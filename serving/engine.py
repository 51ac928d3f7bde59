"""A model and an index that answer together."""

import math
import re
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from models.exported.explanation import explain_document
from models.exported.model import CallableModel
from models.retrieval.corpus_index import CorpusIndex
from models.retrieval.query_encoder import QueryEncoder
from schemas.errors import DataError
from schemas.json_record import JsonRecord
from schemas.relevance import grade_name
from schemas.wikiclir import Text
from serving.http_records import Collection, ExplainAnswer, Hit, RankAnswer, RankedText, SearchAnswer
from serving.refusals import NotThere
from serving.served_model import ServedModel
from serving.snippet import make_snippet, matching_words

_SCORES: Final = "scores"


class Result(JsonRecord):
    """A document that was found."""

    rank: int
    doc_id: str
    title: str
    text: str
    score: float
    dense: float
    """What the vectors add to the score."""
    words: float
    """What the words that match add to it."""
    segment: int
    """With `row`, its place in the index; see `CorpusIndex.document`."""
    row: int


class SearchResults(JsonRecord):
    """What a search found."""

    results: tuple[Result, ...]
    milliseconds: float
    """From the query's text to the results."""


class Searcher:
    """A model and an index that belong together.

    Args:
      model: whose version and fingerprint the caller has compared with the index's.
      index: a version of an index.
    """

    def __init__(self, model: CallableModel, index: CorpusIndex) -> None:
        self._model = model
        self.index = index
        self._encoder = QueryEncoder(model)

    def search(self, query: str, most: int) -> SearchResults:
        """The best documents of the whole collection, best first; none where the model knows no word of the query."""
        started = time.perf_counter()
        found = self.index.search(self._encoder.encode(query), most)
        results = []
        for rank, one in enumerate(found, 1):
            document = self.index.document(one.segment, one.row)
            results.append(
                Result(
                    rank=rank,
                    doc_id=document.id,
                    title=document.title,
                    text=document.text,
                    score=one.score,
                    dense=one.dense,
                    words=one.words,
                    segment=one.segment,
                    row=one.row,
                )
            )
        return SearchResults(results=tuple(results), milliseconds=(time.perf_counter() - started) * 1000)

    def score(self, query: str, documents: Sequence[str]) -> list[float]:
        """The scores of texts that need not be in the index."""
        lists = {"query": np.array([query]), "documents": np.array([documents], object)}
        scores: list[float] = self._model.call("score", lists)[_SCORES][0].tolist()
        return scores


_PLACE: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,9})@(.+)", re.ASCII)
_WARM_CHARACTERS: Final = 200


class Languages(NamedTuple):
    """ISO 639-1."""

    query: str
    document: str


class Engine:
    """What a search needs, of one version.

    Args:
      model: the served one.
      index: that it made.
      index_version: its number.
      languages: of queries and documents, if they are known.

    Attributes:
      drift: how far the documents are from the model's; None in an index of an earlier version.
      theta: the thresholds between the grades; empty where the model has none.
      grades: the names of the grades, the lowest first; likewise.
    """

    def __init__(
        self, model: ServedModel, index: CorpusIndex, index_version: str, languages: Languages | None = None
    ) -> None:
        self._model, self._searcher = model, Searcher(model, index)
        self.model_version, self.index_version, self.languages = model.version, index_version, languages
        self.documents = len(index)
        self.drift = index.manifest.drift
        self.can_explain = "explain_words" in model.signatures
        found = model.call("grade_bands", {})["theta"].tolist() if "grade_bands" in model.signatures else []
        self.theta: tuple[float, ...] = tuple(found)
        self.grades = tuple(grade_name(one, len(found)) for one in range(len(found) + 1)) if found else ()

    def search(self, query: str, most: int, with_snippets: bool, with_texts: bool) -> SearchAnswer:
        """The best documents of the whole collection."""
        started = time.perf_counter()
        found = self._searcher.search(query, most).results
        hits = tuple(self._hit(query, result, with_snippets, with_texts) for result in found)
        return SearchAnswer(
            query=query, results=hits, documents=self.documents, milliseconds=_since(started), **self._versions()
        )

    def rank(self, query: str, documents: Sequence[str]) -> RankAnswer:
        """Texts by their scores."""
        started = time.perf_counter()
        scores = [_finite(score) for score in self._searcher.score(query, documents)]
        order = sorted(range(len(scores)), key=lambda position: -scores[position])
        ranked = tuple(
            RankedText(rank=rank, position=position, score=scores[position]) for rank, position in enumerate(order, 1)
        )
        return RankAnswer(documents=ranked, milliseconds=_since(started), **self._versions())

    def explain(self, query: str, place: str | None, text: str | None) -> ExplainAnswer:
        """Why a document, or a text, has its score.

        Args:
          query: a text.
          place: of a document, as a search gave it.
          text: instead of it.

        Raises:
          NotThere: the model cannot explain, or no document has this place.
        """
        started = time.perf_counter()
        if not self.can_explain:
            raise NotThere(
                "the model must have the signature explain_words to be explained; that of this version lacks it. "
                "A new `clir run` exports one."
            )
        document = self._document(place) if place is not None else None
        content = document.text if document else text or ""
        explanation = explain_document(self._model, query, content)
        dense = sum(part.part for part in explanation.parts[: -1 if self._has_words else None])
        return ExplainAnswer(
            query=query,
            doc_id=document.id if document else None,
            title=document.title if document else None,
            text=content,
            score=_finite(sum(part.part for part in explanation.parts)),
            grade=self._grade(dense),
            explanation=explanation,
            milliseconds=_since(started),
            **self._versions(),
        )

    def collection(self, most_query_characters: int, most_k: int) -> Collection:
        """What is searched; the two are limits of the service."""
        query_language, document_language = self.languages or (None, None)
        return Collection(
            documents=self.documents,
            query_language=query_language,
            document_language=document_language,
            theta=self.theta,
            grades=self.grades,
            can_explain=self.can_explain,
            drift=self.drift,
            most_query_characters=most_query_characters,
            most_k=most_k,
            **self._versions(),
        )

    def warm(self) -> None:
        """Asks everything once, for the first call of each is slow."""
        document = next(self._searcher.index.documents(), None)
        text = document.text[:_WARM_CHARACTERS] if document else "-"
        self.search(text, 1, with_snippets=True, with_texts=False)
        self.rank(text, [text])
        if self.can_explain:
            self.explain(text, None, text)

    def close(self) -> None:
        """Ends a connection to a TF Serving, if there is one."""
        if callable(close := getattr(self._model, "close", None)):
            close()

    def _hit(self, query: str, result: Result, with_snippet: bool, with_text: bool) -> Hit:
        snippet = None
        if with_snippet:
            snippet = make_snippet(result.text, matching_words(self._model, query, result.text))
        return Hit(
            rank=result.rank,
            doc_id=result.doc_id,
            title=result.title,
            score=_finite(result.score),
            dense=result.dense,
            words=result.words,
            grade=self._grade(result.dense),
            place=f"{result.segment}:{result.row}@{self.index_version}",
            snippet=snippet,
            text=result.text if with_text else None,
        )

    def _document(self, place: str) -> Text:
        match = _PLACE.fullmatch(place)
        if match and match[3] != self.index_version:
            raise NotThere(
                f"place must be of the index that is searched, version {self.index_version}; got {place[:80]!r}. "
                "Search again."
            )
        index = self._searcher.index
        if match is None or not index.holds(int(match[1]), int(match[2])):
            raise NotThere(f"place must be one that a search gave; got {place[:80]!r}.")
        return index.document(int(match[1]), int(match[2]))

    def _grade(self, dense: float) -> str | None:
        """The grade in whose band a score of the vectors lies."""
        return self.grades[sum(dense >= threshold for threshold in self.theta)] if self.grades else None

    @property
    def _has_words(self) -> bool:
        return "words_channel" in self._model.signatures

    def _versions(self) -> dict[str, str]:
        return {"model_version": self.model_version, "index_version": self.index_version}


def _finite(score: float) -> float:
    """A score that is a number.

    Raises:
      DataError: it is none.
    """
    if not math.isfinite(score):
        raise DataError(f"a score of the model must be finite; got {score}. Its weights are damaged: push another.")
    return score


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
