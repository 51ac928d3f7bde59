"""An index in Milvus: a collection with a row for each document, searched as the local index is."""

import hashlib
import logging.config
import os
import time
import urllib.parse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import grpc
import numpy as np
import numpy.typing as npt

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

    def ask(self, method: str, *arguments: Any, seconds: int | None = None, **named: Any) -> Any:
        """Calls a method of the client.

        Raises:
          DataError: the server does not answer, or refuses.
        """
        try:
            return self._call(method, *arguments, seconds=seconds or self._seconds, **named)
        except self._errors as error:
            raise DataError(f"the Milvus at {self.address} refused {method}: {self._said(error)}.") from None

    def newest(self) -> str | None:
        """The collection behind the alias; None where there is no such alias.

        Raises:
          DataError: a collection, which is not ours, has this name; or as in `ask`.
        """
        name = self.address.name
        try:
            found: str = self._call("describe_alias", name, seconds=self._seconds)["collection_name"]
            return found
        except self._errors:
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
        record = self.ask("describe_collection", collection).get("properties", {}).get(_PROPERTY)
        try:
            found = MilvusVersion.from_json(record) if record else None
        except ValueError:
            return None  # of a later version of the project, perhaps
        return found if found and found.alias == self.address.name else None

    def count(self, collection: str) -> int:
        """The number of rows of a collection."""
        (row,) = self.ask("query", collection, filter="", output_fields=["count(*)"], consistency_level="Strong")
        return int(row["count(*)"])

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
        text = error.details() if isinstance(error, grpc.Call) else getattr(error, "message", "")
        return (str(text or "").strip() or str(error)).splitlines()[0].rstrip(".")


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
        rows = self._rows(numbers, [DOC_ID, TITLE, TEXT])
        return [_text(rows[number]) for number in numbers]

    def documents(self) -> Iterator[Text]:
        """Every document."""
        rows = self._milvus.ask("query_iterator", self._collection, output_fields=[NUMBER, DOC_ID, TITLE, TEXT])
        while batch := rows.next():
            yield from map(_text, batch)

    def search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents for a query; see `SearchIndex`."""
        if not query.vector.any():
            return self.words_search(query, most)
        near, matching = self._near(query, most), self._matching(query, most)
        scores = {one.number: one.score for one in matching}
        unscored = [one.number for one in near if one.number not in scores]
        if unscored and len(matching) == _limit(most):  # of fewer, every document that matches is among them
            scores |= {one.number: one.score for one in self._matching(query, len(unscored), unscored)}
        return _best(query, {one.number: one for one in (*near, *matching)}.values(), scores, most)

    def dense_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by their vectors alone."""
        return _best(query, self._near(query, most), {}, most) if query.vector.any() else []

    def words_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by words that match alone."""
        matching = self._matching(query, most)
        without_vector = query._replace(vector=np.zeros_like(query.vector))
        return _best(without_vector, matching, {one.number: one.score for one in matching}, most)

    def _near(self, query: EncodedQuery, most: int) -> list["_Candidate"]:
        """The documents with the nearest vectors."""
        return self._ask(VECTOR, query.vector.tolist(), _limit(most), _read(self.version.vector_index, _limit(most)))

    def _matching(self, query: EncodedQuery, most: int, among: Sequence[int] = ()) -> list["_Candidate"]:
        """The documents with the best words that match, perhaps among some documents alone."""
        terms = sparse_terms(query.terms.tolist(), query.weights)
        if not terms:
            return []
        condition = f"{NUMBER} in {list(among)}" if among else ""
        return self._ask(TERMS, terms, _limit(most), {"drop_ratio_search": 0.0}, condition)

    def _ask(
        self, field: str, asked: Any, limit: int, parameters: Mapping[str, float], condition: str = ""
    ) -> list["_Candidate"]:
        if not len(self):
            return []  # its vectors have no length yet
        (found,) = self._milvus.ask(
            "search",
            self._collection,
            [asked],
            anns_field=field,
            filter=condition,
            limit=limit,
            search_params={"metric_type": "IP", "params": dict(parameters)},
            output_fields=[DOC_ID, VECTOR],
        )
        return [
            _Candidate(int(one[NUMBER]), one["entity"][DOC_ID].encode(), one["entity"][VECTOR], one["distance"])
            for one in found
        ]

    def _rows(self, numbers: Sequence[int], fields: list[str]) -> dict[int, Mapping[str, Any]]:
        """Fields of rows by their numbers.

        Raises:
          LookupError: there is no such row.
        """
        rows = self._milvus.ask("get", self._collection, ids=list(numbers), output_fields=fields) if numbers else []
        found = {int(row[NUMBER]): row for row in rows}
        if missing := [number for number in numbers if number not in found]:
            raise LookupError(missing[0])
        return found


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
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs each error that it raises
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


class _Candidate(NamedTuple):
    """A document that a channel brought."""

    number: int
    doc_id: bytes
    vector: Sequence[float]
    score: float
    """The channel's."""


def _best(
    query: EncodedQuery, candidates: Collection[_Candidate], words: Mapping[int, float], most: int
) -> list[Found]:
    """The best of candidates.

    Args:
      query: the query; a vector of zeros leaves the vectors out.
      candidates: the candidates, each once.
      words: the scores of the words of those that match, by number.
      most: the most documents.
    """
    found = [*candidates]
    if not found:
        return []
    # As in `Segment.inner_products`: equal documents have equal scores.
    dense = np.einsum("ij,j->i", np.asarray([one.vector for one in found], np.float32), query.vector)
    of_words = np.asarray([words.get(one.number, 0.0) for one in found], np.float32)
    scores = dense + of_words
    return [
        Found(str(found[at].number), float(scores[at]), float(dense[at]), float(of_words[at]), found[at].doc_id)
        for at in rank(scores, [one.doc_id for one in found])[:most].tolist()
    ]


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


def _text(row: Mapping[str, Any]) -> Text:
    return Text(row[DOC_ID], row[TITLE], "".join(row[TEXT]), int(row[NUMBER]))


def _number(place: str) -> int:
    if not (place.isascii() and place.isdigit() and len(place) < 19):
        raise LookupError(place)
    return int(place)
