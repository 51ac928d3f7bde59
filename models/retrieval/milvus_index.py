"""An index in Milvus: a collection with a row for each document, searched as the local index is."""

import hashlib
import logging.config
import operator
import os
import time
import urllib.parse
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

import grpc
import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, FiniteFloat, NonNegativeInt, ValidationError

from models.exported.model import EncodedQuery
from models.keys import key_for
from models.proxies import grpc_proxy, through
from models.retrieval.milvus_settings import TOKEN_VARIABLE, MilvusAddress, VectorIndex
from models.retrieval.ranking import rank
from models.retrieval.search_index import DEPTH, Found
from schemas.errors import DataError
from schemas.index_manifest import Drift
from schemas.json_record import JsonRecord
from schemas.wikiclir import Text

NUMBER: Final = "number"
DOC_ID: Final = "doc_id"
TITLE: Final = "title"
TEXT: Final = "text"
VECTOR: Final = "vector"
TERMS: Final = "terms"

NO_TERM: Final = (1 << 32) - 2
"""The term of documents without terms, which no query asks for: Milvus takes no empty sparse vector."""
MOST_FOUND: Final = 16_384
"""The most results of a search in Milvus."""
SECONDS: Final = 60
"""The longest time of a call where nothing else is said."""

_PROPERTY: Final = "smooth_clir"
_CONNECT_SECONDS: Final = 5
_CHANNEL: Final = {
    # pymilvus 3 would ping an idle connection each 10 s. A gRPC server's own limit is a ping in 5 minutes: after three
    # it closes the connection, with the call that is under way. pymilvus 2 pings during calls alone, and takes no
    # settings of a connection.
    "grpc.keepalive_time_ms": 300_000,
    "grpc.keepalive_permit_without_calls": 0,
    "grpc.max_reconnect_backoff_ms": 5_000,  # gRPC's own, 120 s, would make an outage last as long again
}
_CONNECT_FAILED: Final = 2
_PAUSE_SECONDS: Final = 0.5

log = logging.getLogger("clir.index")


class MilvusVersion(JsonRecord):
    """A version of an index in Milvus; it stands in a property of its collection."""

    alias: str
    """The alias of the newest version."""
    number: str
    """The version's number on the disk of the machine that wrote it."""
    model: str
    """See `IndexManifest`; likewise the next four."""
    identity: str
    dimension: int
    documents: int
    drift: Drift
    of_run: str
    """SHA-256 of the manifest of the run's index that it holds; empty where `clir index` made or changed it."""
    vector_index: VectorIndex
    """The index of the vectors, with the kind that was chosen."""
    is_whole: bool
    """Whether every document is written and counted."""
    replicas: int = 1
    """Number of copies in memory."""


class MilvusRefusal(DataError):
    """Milvus refused a call, where `DataError` alone also says that it does not answer."""


class Milvus:
    """A connection to a Milvus server.

    Args:
      address: the server, and the name of an index.
      seconds: about the longest time of a call, which is tried again until then. A whole number: with a fraction some
        versions of the client try for minutes.

    Attributes:
      address: the same.

    Raises:
      DataError: no Milvus answers, it refuses the token, the token is for another host, or the client is not
        installed.
    """

    def __init__(self, address: MilvusAddress, seconds: int = SECONDS) -> None:
        try:
            pymilvus = import_client()
        except ImportError:
            raise DataError(
                f"{address} must be searched with the package pymilvus; it is missing. Install it: "
                "pip install 'smooth-clir[milvus]'"
            ) from None
        self.address, self._seconds = address, seconds
        self._errors = pymilvus.MilvusException, grpc.RpcError
        self._no_answers = pymilvus.exceptions.ConnectError, pymilvus.exceptions.MilvusUnavailableException
        self._has_token = bool(os.environ.get(TOKEN_VARIABLE, "").strip())
        token = key_for(TOKEN_VARIABLE, address.uri) if self._has_token else ""
        self._route = through(grpc_proxy(urllib.parse.urlsplit(address.uri).netloc))
        connect = partial(pymilvus.MilvusClient, uri=address.uri, token=token, grpc_options=_CHANNEL)
        try:
            self.client = self._until_answered(connect, _CONNECT_SECONDS)
        except self._errors as error:
            raise self._unreachable(error) from None

    def ask(
        self,
        method: str,
        *arguments: Any,
        seconds: int | None = None,
        read: Callable[[Any], Any] = lambda answer: answer,
        **named: Any,
    ) -> Any:
        """Calls a method of the client, and reads its answer.

        Raises:
          DataError: as in `reading`; or the server does not answer.
        """
        with self.reading(method):
            return read(self._call(method, *arguments, seconds=seconds or self._seconds, **named))

    @contextmanager
    def reading(self, method: str) -> Iterator[None]:
        """Calls a method, or reads its answer, in a block.

        Raises:
          MilvusRefusal: the server refuses.
          DataError: the answer is malformed, for the client or for us.
        """
        try:
            yield
        except DataError:
            raise
        except self._errors as error:
            raise MilvusRefusal(f"the Milvus at {self.address} refused {method}: {self._said(error)}.") from None
        except Exception as error:  # of whatever type: a server may answer anything
            raise DataError(
                f"the Milvus at {self.address} gave a malformed answer to {method}: {type(error).__name__}: "
                f"{self._said(error)}. Ask again, or check the server, and any proxy before it."
            ) from error

    def newest(self) -> str | None:
        """The collection behind the alias; None where there is no such alias.

        Raises:
          DataError: a collection, which is not ours, has this name; or as in `ask`.
        """
        name = self.address.name
        try:
            collection: str = self.ask("describe_alias", name, read=_collection_name)
            return collection
        except MilvusRefusal:
            pass  # there is no such alias; versions of Milvus number this error differently
        if self.ask("has_collection", name):
            raise self.foreign(name)
        return None

    def _call(self, method: str, *arguments: Any, seconds: int, **named: Any) -> Any:
        """Calls a method of the client; see `_until_answered`."""
        return self._until_answered(partial(getattr(self.client, method), *arguments, **named), seconds)

    def _until_answered(self, call: Callable[..., Any], seconds: int) -> Any:
        """Repeats a call until the server answers, because not every version of the client does so.

        Raises:
          DataError: the server does not answer in time.
          Exception: one of the client's, where the server refuses.
        """
        end = time.monotonic() + seconds
        while True:
            try:
                return call(timeout=seconds)
            except self._errors as error:
                if self._is_answer(error):
                    raise
                if time.monotonic() >= end:
                    raise self._unreachable(error) from None
            time.sleep(_PAUSE_SECONDS)

    def _is_answer(self, error: Exception) -> bool:
        """Whether an error comes from the server.

        Otherwise its code is 2, or a gRPC status, or it has a type of its own, as the version of the client has it.
        """
        code = getattr(error, "code", None)
        return isinstance(code, int) and code != _CONNECT_FAILED and not isinstance(error, self._no_answers)

    def version(self, collection: str) -> MilvusVersion:
        """The version that a collection holds.

        Raises:
          DataError: the collection is somebody else's; or as in `ask`.
        """
        if found := self.version_if_ours(collection):
            return found
        raise self.foreign(collection)

    def version_if_ours(self, collection: str) -> MilvusVersion | None:
        """The version that a collection holds; None for the collection of somebody else, or of another index.

        Raises:
          DataError: as in `ask`.
        """
        version: MilvusVersion | None = self.ask("describe_collection", collection, read=_version)
        return version if version and version.alias == self.address.name else None

    def count(self, collection: str) -> int:
        """The number of rows of a collection that is loaded."""
        count: int = self.ask(
            "query", collection, filter="", output_fields=["count(*)"], consistency_level="Strong", read=_count
        )
        return count

    def load(self, collection: str, version: MilvusVersion, seconds: int | None = None) -> bool:
        """Loads a whole version into the server's memory where it is not there, as after some servers' restart.

        Args:
          collection: its collection.
          version: its record.
          seconds: the longest time of the call.

        Returns:
          whether it was not there.

        Raises:
          DataError: as in `ask`.
        """
        state: str = self.ask("get_load_state", collection, read=lambda answer: answer["state"].name)
        if state == "Loaded":
            return False
        log.warning("%s in %s is not loaded; it is loaded now", collection, self.address)
        self.ask("load_collection", collection, replica_number=version.replicas, seconds=seconds)
        return True

    def foreign(self, collection: str) -> DataError:
        """The error for a collection of somebody else."""
        return DataError(
            f"{self.address} must be a free name or that of an index; there is the collection {collection}, which "
            "`clir` did not write. It is not touched: choose another name."
        )

    def _unreachable(self, error: Exception) -> DataError:
        return DataError(
            f"no Milvus answers at {self.address}{self._route}: {self._said(error)}. Start it, or name another; the "
            f"environment variable {TOKEN_VARIABLE} holds its token, if it asks for one."
        )

    def _said(self, error: Exception) -> str:
        """The first line of an error; its code alone where the server may repeat the token."""
        if self._has_token:
            code = error.code() if isinstance(error, grpc.Call) else getattr(error, "code", "unknown")
            return f"code {getattr(code, 'name', code)}"
        if isinstance(error, ValidationError):
            return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        text = error.details() if isinstance(error, grpc.Call) else getattr(error, "message", "")
        return ((str(text or "").strip() or str(error)).splitlines() or [""])[0].rstrip(".")


class MilvusIndex:
    """A `SearchIndex` in Milvus.

    Milvus brings `DEPTH` candidates by their vectors and as many by their words, with the scores of the words. It is
    asked again for those of the candidates that only their vectors brought. So each candidate has the same score as in
    the local index, and no fusion of ranks or scores comes between.

    Milvus knows numbers in the place of terms, see `term_number`. Where two terms share one, a document with the other
    term counts as a match; of a million terms that befalls one of 4,300.

    Args:
      milvus: the connection.
      collection: the version's collection.

    Attributes:
      version: the version's record.

    Raises:
      DataError: the collection holds no whole version of an index, or Milvus does not answer.
    """

    def __init__(self, milvus: Milvus, collection: str) -> None:
        version = milvus.version(collection)
        if version.is_whole:
            milvus.load(collection, version)
        held = milvus.count(collection) if version.is_whole else 0
        if held != version.documents or not version.is_whole:
            raise DataError(
                f"{collection} in {milvus.address} must hold {version.documents:,} documents; "
                + (f"it holds {held:,}" if version.is_whole else "it was not written to its end")
                + ". `clir index` writes it again."
            )
        self.version = version
        self._milvus, self._collection = milvus, collection

    def __len__(self) -> int:
        return self.version.documents

    @property
    def model(self) -> str:
        """The fingerprint of the model that encoded the documents."""
        return self.version.model

    @property
    def identity(self) -> str:
        """The index by its content."""
        return self.version.identity

    @property
    def drift(self) -> Drift:
        """The distance of the documents from those of the model."""
        return self.version.drift

    def texts(self, places: Sequence[str]) -> list[Text]:
        """The documents at some places; see `SearchIndex`."""
        numbers = [_number(place) for place in places]
        documents = self._ask("get", _texts, ids=numbers, output_fields=[DOC_ID, TITLE, TEXT]) if numbers else []
        number_to_text = {document.line: document for document in documents}
        if missing := [number for number in numbers if number not in number_to_text]:
            raise LookupError(missing[0])
        return [number_to_text[number] for number in numbers]

    def documents(self) -> Iterator[Text]:
        """Every document."""
        rows = self._ask("query_iterator", _batches, output_fields=[NUMBER, DOC_ID, TITLE, TEXT])
        while True:
            with self._milvus.reading("query_iterator"):
                batch = _texts(next(rows, []))
            if not batch:
                return
            yield from batch

    def search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents for a query; see `SearchIndex`."""
        if not query.vector.any():
            return self.words_search(query, most)
        near, matching = self._near(query, most), self._matching(query, most)
        scores = {one.number: one.score for one in matching}
        unscored = [one.number for one in near if one.number not in scores]
        if unscored and len(matching) == _limit(most):  # of fewer, every document that matches is among them
            scores |= {one.number: one.score for one in self._matching(query, len(unscored), unscored)}
        return self._best(query, {one.number: one for one in (*near, *matching)}.values(), scores, most)

    def dense_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by their vectors alone."""
        return self._best(query, self._near(query, most), {}, most) if query.vector.any() else []

    def words_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by words that match alone."""
        matching = self._matching(query, most)
        without_vector = query._replace(vector=np.zeros_like(query.vector))
        return self._best(without_vector, matching, {one.number: one.score for one in matching}, most)

    def _near(self, query: EncodedQuery, most: int) -> list["_Candidate"]:
        """The documents with the nearest vectors."""
        limit, index = _limit(most), self.version.vector_index
        near = self._candidates(VECTOR, query.vector.tolist(), limit, _read(index, limit))
        with self._milvus.reading("search"):  # a walk of a graph, or some lists, may miss documents, but never all
            if len(near) < (min(limit, len(self)) if index.kind == "flat" else bool(len(self))):
                raise ValueError(f"the nearest of {len(self):,} documents must come; got {len(near):,}")
        return near

    def _matching(self, query: EncodedQuery, most: int, among: Sequence[int] = ()) -> list["_Candidate"]:
        """The documents with the best words that match, perhaps among some documents alone."""
        terms = sparse_terms(query.terms.tolist(), query.weights)
        if not terms:
            return []
        condition = f"{NUMBER} in {list(among)}" if among else ""
        return self._candidates(TERMS, terms, _limit(most), {"drop_ratio_search": 0.0}, condition)

    def _candidates(
        self, field: str, asked: Any, limit: int, parameters: Mapping[str, float], condition: str = ""
    ) -> list["_Candidate"]:
        if not len(self):
            return []  # its vectors have no length yet
        candidates: list[_Candidate] = self._ask(
            "search",
            _candidates,
            [asked],
            anns_field=field,
            filter=condition,
            limit=limit,
            search_params={"metric_type": "IP", "params": dict(parameters)},
            output_fields=[DOC_ID, VECTOR],
        )
        return candidates

    def _ask(self, method: str, read: Callable[[Any], Any], *arguments: Any, **named: Any) -> Any:
        """Asks for something of the collection; loads it, and asks again, where it is no longer loaded."""
        ask = partial(self._milvus.ask, method, self._collection, *arguments, read=read, **named)
        try:
            return ask()
        except MilvusRefusal:
            if not self._milvus.load(self._collection, self.version):
                raise
        return ask()

    def _best(
        self, query: EncodedQuery, candidates: Collection["_Candidate"], words: Mapping[int, float], most: int
    ) -> list[Found]:
        """The best of candidates.

        Args:
          query: the query; a vector of zeros leaves the vectors out.
          candidates: the candidates, each once.
          words: the scores of the words of those that match, by number.
          most: the most documents.
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
            Found(str(numbers[row]), float(scores[row]), float(dense[row]), float(word_scores[row]), doc_ids[row])
            for row in rank(scores, doc_ids)[:most].tolist()
        ]


def import_client() -> Any:
    """Imports pymilvus without its logging, whose set-up closes all handlers of this process.

    Raises:
      ImportError: it is not installed.
    """
    set_up, logging.config.dictConfig = logging.config.dictConfig, lambda config: None
    try:
        import pymilvus
    finally:
        logging.config.dictConfig = set_up
    for name in ("pymilvus", "grpc._common"):  # they log each error that they raise
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return pymilvus


def term_number(term: bytes) -> int:
    """The number that stands for a term in Milvus: 32 bits of a hash, below `NO_TERM`."""
    return int.from_bytes(hashlib.blake2b(term, digest_size=4).digest(), "little") % NO_TERM


def sparse_terms(terms: Sequence[bytes], weights: npt.NDArray[np.float32]) -> dict[int, float]:
    """Weighted terms as a sparse vector of Milvus, without those of weight 0.

    Example:
      >>> [*sparse_terms([b"chat", b""], np.array([0.5, 0], np.float32)).values()]
      [0.5]
    """
    found: dict[int, float] = {}
    for term, weight in zip(terms, weights.tolist(), strict=True):
        if term and weight:
            number = term_number(term)
            found[number] = found.get(number, 0.0) + weight
    return found


def record_of(version: MilvusVersion) -> dict[str, str]:
    """The properties of a version's collection."""
    return {_PROPERTY: version.to_json()}


class _Row(BaseModel):
    """The columns of a row that say what it is; each has the type that was written."""

    model_config = ConfigDict(strict=True)

    number: NonNegativeInt
    doc_id: str


class _Document(_Row):
    """A row with a document's texts."""

    title: str
    text: list[str]


class _Hit(_Row):
    """A row that a search brought."""

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
        raise ValueError("each document must come once")
    return candidates


def _texts(rows: Iterable[Mapping[str, Any]]) -> list[Text]:
    documents = (
        _Document(number=row[NUMBER], doc_id=row[DOC_ID], title=row[TITLE], text=list(row[TEXT])) for row in rows
    )
    return [Text(document.doc_id, document.title, "".join(document.text), document.number) for document in documents]


def _batches(rows: Any) -> Iterator[Any]:
    """The batches of an iterator of the client, whose end is an empty one."""
    return iter(rows.next, [])


def _collection_name(answer: Any) -> str:
    if not (isinstance(name := answer["collection_name"], str) and name):
        raise ValueError(f"the collection behind an alias must have a name; got {name!r}")
    return name


def _version(answer: Any) -> MilvusVersion | None:
    """The record among a collection's properties; None for another's, or for one of a later version of the project."""
    record = answer.get("properties", {}).get(_PROPERTY)
    try:
        return MilvusVersion.from_json(record) if record else None
    except ValueError:
        return None


def _count(answer: Any) -> int:
    (row,) = answer
    return operator.index(row["count(*)"])


def _limit(most: int) -> int:
    return min(max(most, DEPTH), MOST_FOUND)


def _read(index: VectorIndex, limit: int) -> dict[str, float]:
    """How a search reads an index of vectors."""
    parameters: dict[str, dict[str, float]] = {
        "flat": {},
        "ivf": {"nprobe": index.nprobe},
        "hnsw": {"ef": max(index.ef, limit)},
    }
    return parameters[index.kind]


def _number(place: str) -> int:
    if not (place.isascii() and place.isdigit() and len(place) < 19):
        raise LookupError(place)
    return int(place)
