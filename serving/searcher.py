"""Searches an index with the model that made it, and says why a document was found."""

import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from models.callable_model import CallableModel
from models.corpus_index.corpus_index import CorpusIndex
from models.corpus_index.query_encoder import QueryEncoder
from schemas.json_record import JsonRecord

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
