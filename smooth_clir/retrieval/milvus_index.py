"""Searches an index in Milvus, a collection with a row for each document, as the local index is searched."""

import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, FiniteFloat, NonNegativeInt

from models.exported.model import EncodedQuery
from models.lists.feedback import FIRST_PASS, Feedback, Similarity
from models.lists.ranking import rank
from schemas.errors import DataError
from schemas.index_manifest import Drift, FieldRecord
from schemas.wikiclir import Text
from smooth_clir.retrieval.milvus import Milvus, MilvusRefusal
from smooth_clir.retrieval.milvus_settings import VectorIndex
from smooth_clir.retrieval.search_index import DEPTH, IndexHit
from smooth_clir.retrieval.where import Condition, Where

NUMBER: Final = "number"
DOC_ID: Final = "doc_id"
TITLE: Final = "title"
TEXT: Final = "text"
VECTOR: Final = "vector"
TERMS: Final = "terms"
OWN_TERMS: Final = "own_terms"
"""A document's own terms, as a unit vector; only for a model with a second pass."""
FIELD: Final = "field_"
"""With a number: a field of the documents, by its position in the index."""

NO_TERM: Final = (1 << 32) - 2
"""The term of documents without terms, because Milvus takes no empty sparse vector; no query has it."""
NO_NUMBER: Final = -sys.float_info.max
"""The number of documents without one, which no field has; a missing text is empty."""
MAX_HITS: Final = 16_384
"""The largest number of results of a search in Milvus."""


class MilvusIndex:
    """A `SearchIndex` in Milvus.

    Milvus brings `DEPTH` candidates by their vectors, and as many by their words with the words' scores. A second
    request brings the words' scores of the candidates found only by vectors. So each candidate has the same score as in
    the local index, without a fusion of ranks or scores.

    Milvus knows numbers instead of terms, see `term_number`. If two terms share a number, a document with one of them
    counts as a match for the other; of a million terms, 1 in 4,300 shares its number.

    Args:
      milvus: the connection.
      collection: the version's collection.

    Attributes:
      version: the version's record.

    Raises:
      DataError: the collection does not hold a whole version of an index, or Milvus does not answer.
    """

    def __init__(self, milvus: Milvus, collection: str) -> None:
        version = milvus.version(collection)
        if version.is_whole:
            milvus.load(collection, version)
        count = milvus.count(collection) if version.is_whole else 0
        if count != version.documents or not version.is_whole:
            raise DataError(
                f"{collection} in {milvus.address} must hold {version.documents:,} documents; "
                + (f"it holds {count:,}" if version.is_whole else "it was not written completely")
                + ". Write it again with `clir index`."
            )
        self.version = version
        self._milvus, self._collection = milvus, collection

    def __len__(self) -> int:
        return self.version.documents

    @property
    def model(self) -> str:
        return self.version.model

    @property
    def identity(self) -> str:
        return self.version.identity

    @property
    def drift(self) -> Drift:
        return self.version.drift

    @property
    def fields(self) -> Mapping[str, FieldRecord]:
        return self.version.fields

    def texts(self, positions: Sequence[str]) -> list[Text]:
        numbers = [_number(position) for position in positions]
        read = partial(_texts, fields=len(self.fields))
        documents = self._ask("get", read, ids=numbers, output_fields=self._text_columns) if numbers else []
        number_to_text = {document.line: document for document in documents}
        if missing := [number for number in numbers if number not in number_to_text]:
            raise LookupError(missing[0])
        return [number_to_text[number] for number in numbers]

    def documents(self) -> Iterator[Text]:
        rows = self._ask("query_iterator", _batches, output_fields=[NUMBER, *self._text_columns])
        while True:
            with self._milvus.reading("query_iterator"):
                batch = _texts(next(rows, []), len(self.fields))
            if not batch:
                return
            yield from batch

    @property
    def _text_columns(self) -> list[str]:
        return [DOC_ID, TITLE, TEXT, *(f"{FIELD}{position}" for position in range(len(self.fields)))]

    @property
    def has_own_terms(self) -> bool:
        return self.version.has_own_terms

    def search(
        self, query: EncodedQuery, limit: int, feedback: Feedback = FIRST_PASS, where: Where | None = None
    ) -> list[IndexHit]:
        condition = filter_expression(where) if where else ""
        if not feedback.gain:
            return self._first_pass(query, limit, condition)
        hits = self._first_pass(query, max(limit, DEPTH), condition)
        first = np.array([hit.score for hit in hits], np.float32)
        added = feedback.added(first, np.arange(len(hits)), self._similarity([int(hit.position) for hit in hits]))
        scores = first + added
        return [
            hits[row]._replace(score=float(scores[row]), feedback=float(added[row]))
            for row in rank(scores, [hit.doc_id for hit in hits])[:limit].tolist()
        ]

    def _first_pass(self, query: EncodedQuery, limit: int, condition: str) -> list[IndexHit]:
        if not query.vector.any():
            return self._best_by_words(query, limit, condition)
        near, matching = self._near(query, limit, condition), self._matching(query, limit, condition)
        scores = {document.number: document.score for document in matching}
        unscored = [document.number for document in near if document.number not in scores]
        if unscored and len(matching) == _depth(limit):  # if there are fewer, they are all matching documents
            unscored_rows = f"{NUMBER} in {unscored}"
            further = self._matching(query, len(unscored), unscored_rows)
            scores |= {document.number: document.score for document in further}
        return self._best(query, {document.number: document for document in (*near, *matching)}.values(), scores, limit)

    def dense_search(self, query: EncodedQuery, limit: int) -> list[IndexHit]:
        return self._best(query, self._near(query, limit), {}, limit) if query.vector.any() else []

    def words_search(self, query: EncodedQuery, limit: int) -> list[IndexHit]:
        return self._best_by_words(query, limit)

    def _best_by_words(self, query: EncodedQuery, limit: int, condition: str = "") -> list[IndexHit]:
        matching = self._matching(query, limit, condition)
        without_vector = query._replace(vector=np.zeros_like(query.vector))
        return self._best(without_vector, matching, {document.number: document.score for document in matching}, limit)

    def _similarity(self, numbers: Sequence[int]) -> Similarity:
        """Compares documents by their own terms, whose products with those of the best Milvus computes."""

        def similarity(best: npt.NDArray[np.int64], weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            number_weights = {numbers[row]: weight for row, weight in zip(best.tolist(), weights.tolist(), strict=True)}
            own_terms = self._ask("get", _own_terms, ids=[*number_weights], output_fields=[NUMBER, OWN_TERMS])
            terms: defaultdict[int, float] = defaultdict(float)
            for number, weight in number_weights.items():
                for term, own_weight in own_terms.get(number, {}).items():
                    terms[term] += weight * own_weight
            terms.pop(NO_TERM, None)
            products: dict[int, float] = {}
            if terms:
                products = self._ask(
                    "search",
                    _products,
                    [dict(terms)],
                    anns_field=OWN_TERMS,
                    filter=f"{NUMBER} in {[*numbers]}",
                    limit=min(len(numbers), MAX_HITS),
                    search_params={"metric_type": "IP", "params": {"drop_ratio_search": 0.0}},
                )
            return np.array([products.get(number, 0.0) for number in numbers], np.float32)

        return similarity

    def _near(self, query: EncodedQuery, limit: int, condition: str = "") -> list["_Candidate"]:
        """Returns the documents with the nearest vectors."""
        depth, index = _depth(limit), self.version.vector_index
        near = self._candidates(VECTOR, query.vector.tolist(), depth, _read(index, depth), condition)
        if condition:
            return near
        with self._milvus.reading("search"):  # ivf and hnsw may miss documents, but not all of them
            if len(near) < (min(depth, len(self)) if index.kind == "flat" else bool(len(self))):
                raise ValueError(f"an answer must hold the nearest of {len(self):,} documents; got {len(near):,}")
        return near

    def _matching(self, query: EncodedQuery, limit: int, condition: str = "") -> list["_Candidate"]:
        """Returns the documents with the best matching words."""
        terms = sparse_terms(query.terms.tolist(), query.weights)
        if not terms:
            return []
        return self._candidates(TERMS, terms, _depth(limit), {"drop_ratio_search": 0.0}, condition)

    def _candidates(
        self, field: str, vector: Any, limit: int, parameters: Mapping[str, float], condition: str = ""
    ) -> list["_Candidate"]:
        if not len(self):
            return []  # its vectors have no length yet
        candidates: list[_Candidate] = self._ask(
            "search",
            _candidates,
            [vector],
            anns_field=field,
            filter=condition,
            limit=limit,
            search_params={"metric_type": "IP", "params": dict(parameters)},
            output_fields=[DOC_ID, VECTOR],
        )
        return candidates

    def _ask(self, method: str, read: Callable[[Any], Any], *arguments: Any, **named: Any) -> Any:
        """Calls a method for the collection; if Milvus unloaded the collection, loads it and calls again."""
        ask = partial(self._milvus.ask, method, self._collection, *arguments, read=read, **named)
        try:
            return ask()
        except MilvusRefusal:
            if not self._milvus.load(self._collection, self.version):
                raise
        return ask()

    def _best(
        self, query: EncodedQuery, candidates: Collection["_Candidate"], words: Mapping[int, float], limit: int
    ) -> list[IndexHit]:
        """Returns the best of candidates.

        Args:
          query: the query; a zero vector leaves the vectors out.
          candidates: distinct candidates.
          words: the words' scores of the matching candidates, by number.
          limit: the largest number of documents.
        """
        if not candidates:
            return []
        numbers, doc_ids, vectors, _ = zip(*candidates, strict=True)
        with self._milvus.reading("search"):
            rows = np.asarray(vectors, np.float32)
            if rows.shape != (len(candidates), len(query.vector)):
                raise ValueError(f"each vector must have {len(query.vector)} numbers")
            # As in `Segment.inner_products`: equal documents have equal scores.
            dense = np.einsum("ij,j->i", rows, query.vector)
            word_scores = np.asarray([words.get(number, 0.0) for number in numbers], np.float32)
            scores = dense + word_scores
            if np.isfinite(query.vector).all() and not np.isfinite(scores).all():
                raise ValueError("each score must be finite")
        return [
            IndexHit(str(numbers[row]), float(scores[row]), float(dense[row]), float(word_scores[row]), doc_ids[row])
            for row in rank(scores, doc_ids)[:limit].tolist()
        ]


def term_number(term: bytes) -> int:
    """Returns the number that stands for a term in Milvus: 32 bits of a hash, below `NO_TERM`."""
    return int.from_bytes(hashlib.blake2b(term, digest_size=4).digest(), "little") % NO_TERM


def sparse_terms(terms: Sequence[bytes], weights: npt.NDArray[np.float32]) -> dict[int, float]:
    """Returns weighted terms as a sparse vector of Milvus, without weights of 0.

    Example:
      >>> [*sparse_terms([b"chat", b""], np.array([0.5, 0], np.float32)).values()]
      [0.5]
    """
    number_weights: dict[int, float] = {}
    for term, weight in zip(terms, weights.tolist(), strict=True):
        if term and weight:
            number = term_number(term)
            number_weights[number] = number_weights.get(number, 0.0) + weight
    return number_weights


def filter_expression(where: Where) -> str:
    """Returns a filter in the language of Milvus, with each value as a literal of its type.

    Example:
      >>> filter_expression(Where((Condition(0, "!=", ("es", "fr")), Condition(1, "<", (2020.0,)))))
      'field_0 not in ["es", "fr"] and field_1 < 2020.0 and field_1 > -1.7976931348623157e+308'
    """

    def expression(condition: Condition) -> str:
        column, literals = f"{FIELD}{condition.position}", json.dumps(condition.values, ensure_ascii=False)
        if condition.operator in ("=", "!="):
            return f"{column} {'not in' if condition.is_negative else 'in'} {literals}"
        comparison = f"{column} {condition.operator} {literals[1:-1]}"
        return comparison if condition.operator in (">", ">=") else f"{comparison} and {column} > {NO_NUMBER}"

    return " and ".join(map(expression, where.conditions))


class _Numbered(BaseModel):
    """A row with its number; each column has the type that was written."""

    model_config = ConfigDict(strict=True)

    number: NonNegativeInt


class _Row(_Numbered):
    """A row with its number and its document's id."""

    doc_id: str


class _Document(_Row):
    """A row with a document's texts."""

    title: str
    text: list[str]
    fields: list[str | float]


class _Hit(_Row):
    """A row that a search brought."""

    distance: FiniteFloat


class _OwnTerms(_Numbered):
    """A row with a document's own terms."""

    own_terms: dict[NonNegativeInt, FiniteFloat]


class _Product(_Numbered):
    """A row of a search for own terms."""

    distance: FiniteFloat


class _Candidate(NamedTuple):
    """A document that a channel brought."""

    number: int
    doc_id: bytes
    vector: Sequence[float]
    score: float
    """The channel's."""


def _candidates(answer: Any) -> list[_Candidate]:
    """Reads the answer to a search for one query."""
    (rows,) = answer
    candidates = []
    for row in rows:
        hit = _Hit(number=row[NUMBER], doc_id=row["entity"][DOC_ID], distance=row["distance"])
        candidates.append(_Candidate(hit.number, hit.doc_id.encode(), row["entity"][VECTOR], hit.distance))
    if len({candidate.number for candidate in candidates}) < len(candidates):
        raise ValueError("each document must occur once")
    return candidates


def _own_terms(rows: Iterable[Mapping[str, Any]]) -> dict[int, dict[int, float]]:
    """Reads the own terms of documents, by their numbers."""
    documents = (_OwnTerms(number=row[NUMBER], own_terms=row[OWN_TERMS]) for row in rows)
    return {document.number: document.own_terms for document in documents}


def _products(answer: Any) -> dict[int, float]:
    """Reads the products of a search for own terms, by the documents' numbers."""
    (rows,) = answer
    hits = (_Product(number=row[NUMBER], distance=row["distance"]) for row in rows)
    return {hit.number: hit.distance for hit in hits}


def _texts(rows: Iterable[Mapping[str, Any]], fields: int) -> list[Text]:
    documents = (
        _Document(
            number=row[NUMBER],
            doc_id=row[DOC_ID],
            title=row[TITLE],
            text=list(row[TEXT]),
            fields=[row[f"{FIELD}{position}"] for position in range(fields)],
        )
        for row in rows
    )
    return [
        Text(
            document.doc_id,
            document.title,
            "".join(document.text),
            document.number,
            tuple(value if isinstance(value, str) else _shown_number(value) for value in document.fields),
        )
        for document in documents
    ]


def _shown_number(value: float) -> str:
    """A number as a document has it; "" for a missing value."""
    return "" if value == NO_NUMBER else f"{value:.15g}"


def _batches(rows: Any) -> Iterator[Any]:
    """Returns the batches of an iterator of the client, which ends with an empty batch."""
    return iter(rows.next, [])


def _depth(limit: int) -> int:
    """Returns the number of candidates that a channel brings."""
    return min(max(limit, DEPTH), MAX_HITS)


def _read(index: VectorIndex, limit: int) -> dict[str, float]:
    """Returns the parameters of a search in an index of vectors."""
    parameters: dict[str, dict[str, float]] = {
        "flat": {},
        "ivf": {"nprobe": index.nprobe},
        "hnsw": {"ef": max(index.ef, limit)},
    }
    return parameters[index.kind]


def _number(position: str) -> int:
    if not (position.isascii() and position.isdigit() and len(position) < 19):
        raise LookupError(position)
    return int(position)
