"""An index in Milvus: a collection with a row for each document, searched as the local index is."""

import hashlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import grpc
import numpy as np
import numpy.typing as npt

from models.exported.model import EncodedQuery
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


class MilvusVersion(JsonRecord):
    """A version of an index in Milvus; it stands in a property of its collection."""

    alias: str
    """The alias of the newest version."""
    number: str
    """The version's number on the disk of the machine that wrote it."""
    model: str
    """See `IndexManifest`; so the next four."""
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
      seconds: longest time of a call; the client tries again until then. A whole number: with a fraction some versions
        of the client try for minutes.

    Attributes:
      address: the same.

    Raises:
      DataError: no Milvus answers, it refuses the token, or the client is not installed.
    """

    def __init__(self, address: MilvusAddress, seconds: int = SECONDS) -> None:
        try:
            import pymilvus
        except ImportError:
            raise DataError(
                f"{address} must be searched with the package pymilvus; it is missing. Install it: "
                "pip install 'smooth-clir[milvus]'"
            ) from None
        for name in ("pymilvus", "pymilvus.milvus_client"):  # they log each error that they raise
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self.address, self._seconds = address, seconds
        self._errors = pymilvus.MilvusException, grpc.RpcError
        self._no_answers = pymilvus.exceptions.ConnectError, pymilvus.exceptions.MilvusUnavailableException
        try:
            token = os.environ.get(TOKEN_VARIABLE, "").strip()
            self.client = pymilvus.MilvusClient(uri=address.uri, token=token, timeout=_CONNECT_SECONDS)
        except self._errors as error:
            raise self._unreachable(error) from None

    def ask(self, method: str, *arguments: Any, seconds: int | None = None, **named: Any) -> Any:
        """Calls a method of the client.

        Raises:
          DataError: the server does not answer, or refuses.
        """
        try:
            return getattr(self.client, method)(*arguments, timeout=seconds or self._seconds, **named)
        except self._errors as error:
            if not self._is_answer(error):
                raise self._unreachable(error) from None
            raise DataError(f"the Milvus at {self.address} refused {method}: {_first_line(error)}.") from None

    def newest(self) -> str | None:
        """The collection behind the alias; None where there is no such alias.

        Raises:
          DataError: a collection, which is not ours, has this name; or as in `ask`.
        """
        name = self.address.name
        try:
            found: str = self.client.describe_alias(name, timeout=self._seconds)["collection_name"]
            return found
        except self._errors as error:
            if not self._is_answer(error):
                raise self._unreachable(error) from None
        # There is no such alias; versions of Milvus number this error differently.
        if self.ask("has_collection", name):
            raise self.foreign(name)
        return None

    def _is_answer(self, error: Exception) -> bool:
        """Whether an error comes from the server; the client puts a gRPC status in place of its own code."""
        return isinstance(getattr(error, "code", None), int) and not isinstance(error, self._no_answers)

    def version(self, collection: str) -> MilvusVersion | None:
        """The version that a collection holds; None for a collection that is not ours.

        Raises:
          DataError: as in `ask`.
        """
        properties = self.ask("describe_collection", collection)["properties"]
        record = properties.get(_PROPERTY)
        try:
            return MilvusVersion.from_json(record) if record else None
        except ValueError:
            return None  # of a later version of the project, perhaps: not to be touched

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
            f"no Milvus answers at {self.address}: {_first_line(error)}. Start it, or name another; the environment "
            f"variable {TOKEN_VARIABLE} holds its token, if it asks for one."
        )


class MilvusIndex:
    """A `SearchIndex` in Milvus.

    Milvus brings `DEPTH` candidates by their vectors and as many by their words. The scores of all of them are then
    computed from their vectors and terms, as in the local index, so that no fusion of ranks or scores comes between.

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
        if version is None:
            raise milvus.foreign(collection)
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
        near = self._near(query, most) if query.vector.any() else set()
        return self._best(query, near | self._matching(query, most), most)

    def dense_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by their vectors alone."""
        without_words = query._replace(terms=query.terms[:0], weights=query.weights[:0])
        return self._best(without_words, self._near(query, most), most) if query.vector.any() else []

    def words_search(self, query: EncodedQuery, most: int) -> list[Found]:
        """The best documents by words that match alone."""
        without_vector = query._replace(vector=np.zeros_like(query.vector))
        return self._best(without_vector, self._matching(query, most), most)

    def _near(self, query: EncodedQuery, most: int) -> set[int]:
        """The documents with the nearest vectors."""
        parameters = _search_parameters(self.version.vector_index, max(most, DEPTH))
        return self._candidates(VECTOR, query.vector.tolist(), most, parameters)

    def _matching(self, query: EncodedQuery, most: int) -> set[int]:
        """The documents with the best words that match."""
        terms = _sparse(query)
        return self._candidates(TERMS, terms, most, {"drop_ratio_search": 0.0}) if terms else set()

    def _candidates(self, field: str, asked: Any, most: int, parameters: Mapping[str, float]) -> set[int]:
        (found,) = self._milvus.ask(
            "search",
            self._collection,
            [asked],
            anns_field=field,
            limit=min(max(most, DEPTH), MOST_FOUND),
            search_params={"metric_type": "IP", "params": dict(parameters)},
        )
        return {int(one[NUMBER]) for one in found}

    def _best(self, query: EncodedQuery, candidates: set[int], most: int) -> list[Found]:
        """The best of the candidates by their exact scores."""
        if not candidates:
            return []
        numbers = sorted(candidates)
        found = self._rows(numbers, [DOC_ID, VECTOR, TERMS])
        rows = [found[number] for number in numbers]
        # As in `Segment.inner_products`: equal documents have equal scores.
        dense = np.einsum("ij,j->i", np.asarray([row[VECTOR] for row in rows], np.float32), query.vector)
        asked = [(term, np.float32(weight)) for term, weight in _sparse(query).items()]
        words = np.zeros(len(rows), np.float32)
        for place, row in enumerate(rows):
            for term, weight in asked:
                words[place] += weight * np.float32(row[TERMS].get(term, 0.0))
        doc_ids = [row[DOC_ID].encode() for row in rows]
        scores = dense + words
        return [
            Found(str(numbers[at]), float(scores[at]), float(dense[at]), float(words[at]), doc_ids[at])
            for at in rank(scores, doc_ids)[:most].tolist()
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


def _sparse(query: EncodedQuery) -> dict[int, float]:
    return sparse_terms(query.terms.tolist(), query.weights)


def _search_parameters(index: VectorIndex, limit: int) -> dict[str, float]:
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


def _first_line(error: Exception) -> str:
    text = error.details() if isinstance(error, grpc.Call) else getattr(error, "message", "")
    return (str(text or "").strip() or str(error)).splitlines()[0].rstrip(".")
