"""Connects to a Milvus server, reads the versions of an index there, and describes the server's errors."""

import logging.config
import operator
import os
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import grpc
from pydantic import ValidationError

from models.keys import key_for
from models.proxies import grpc_proxy, through
from schemas.errors import DataError
from schemas.index_manifest import Drift, FieldRecord
from schemas.json_record import JsonRecord
from smooth_clir.retrieval.milvus_settings import TOKEN_VARIABLE, MilvusAddress, VectorIndex

SECONDS: Final = 60
"""The default timeout of a call."""

_PROPERTY: Final = "smooth_clir"
_CONNECT_SECONDS: Final = 5
_CHANNEL: Final = {
    # pymilvus 3 would ping an idle connection every 10 s. A gRPC server allows a ping every 5 minutes: after three more
    # it closes the connection, with the call in progress. pymilvus 2 pings only during calls, and takes no settings.
    "grpc.keepalive_time_ms": 300_000,
    "grpc.keepalive_permit_without_calls": 0,
    "grpc.max_reconnect_backoff_ms": 5_000,  # gRPC's default, 120 s, would double the length of an outage
}
_CONNECT_FAILED: Final = 2
_PAUSE_SECONDS: Final = 0.5

log = logging.getLogger("clir.index")


class MilvusVersion(JsonRecord):
    """A version of an index in Milvus, stored as a property of its collection."""

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
    """SHA-256 of the manifest of the run's index; empty if `clir index` made or changed the version."""
    vector_index: VectorIndex
    """The index of the vectors, with the chosen kind."""
    is_whole: bool
    """Whether every document is written and counted."""
    replicas: int = 1
    """Number of copies in memory."""
    has_own_terms: bool = False
    """Whether the version has the documents' own terms, which a second pass needs."""
    fields: dict[str, FieldRecord] = {}
    """See `IndexManifest`."""


class MilvusRefusal(DataError):
    """Milvus refused a call. A server that does not answer raises another `DataError`."""


class Milvus:
    """A connection to a Milvus server.

    Args:
      address: the server, and the name of an index.
      seconds: about the longest time of a call, which is repeated until then. A whole number: with a fraction, some
        versions of the client go on for minutes.

    Raises:
      DataError: the server does not answer or refuses the token, the token is for another host, or the client is not
        installed.
    """

    def __init__(self, address: MilvusAddress, seconds: int = SECONDS) -> None:
        try:
            pymilvus = import_client()
        except ImportError:
            raise DataError(
                f"{address} needs the package pymilvus. Install it: pip install 'smooth-clir[milvus]'"
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
          DataError: as in `reading`, or the server does not answer.
        """
        with self.reading(method):
            return read(self._call(method, *arguments, seconds=seconds or self._seconds, **named))

    @contextmanager
    def reading(self, method: str) -> Iterator[None]:
        """Turns the errors of a block, which calls a method or reads its answer, into ours.

        Raises:
          MilvusRefusal: the server refuses.
          DataError: the answer is malformed.
        """
        try:
            yield
        except DataError:
            raise
        except self._errors as error:
            raise MilvusRefusal(f"the Milvus at {self.address} refused {method}: {self._error_text(error)}.") from None
        except Exception as error:  # of any type: a server may answer anything
            raise DataError(
                f"the Milvus at {self.address} gave a malformed answer to {method}: {type(error).__name__}: "
                f"{self._error_text(error)}. Ask again, or check the server, and any proxy before it."
            ) from error

    def newest(self) -> str | None:
        """Returns the collection behind the alias; None without the alias.

        Raises:
          DataError: `clir` did not write the collection of this name; or as in `ask`.
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
          Exception: the client's error, if the server refuses.
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
        """Returns whether an error comes from the server.

        An error of the connection has the code 2, a gRPC status, or its own type, depending on the client's version.
        """
        code = getattr(error, "code", None)
        return isinstance(code, int) and code != _CONNECT_FAILED and not isinstance(error, self._no_answers)

    def version(self, collection: str) -> MilvusVersion:
        """Returns the version that a collection holds.

        Raises:
          DataError: `clir` did not write the collection; or as in `ask`.
        """
        if version := self.version_if_ours(collection):
            return version
        raise self.foreign(collection)

    def version_if_ours(self, collection: str) -> MilvusVersion | None:
        """Returns the version that a collection holds; None if it is of another index, or not written by `clir`.

        Raises:
          DataError: as in `ask`.
        """
        version: MilvusVersion | None = self.ask("describe_collection", collection, read=_version)
        return version if version and version.alias == self.address.name else None

    def count(self, collection: str) -> int:
        """Returns the number of rows of a collection that is loaded."""
        count: int = self.ask(
            "query", collection, filter="", output_fields=["count(*)"], consistency_level="Strong", read=_count
        )
        return count

    def load(self, collection: str, version: MilvusVersion, seconds: int | None = None) -> bool:
        """Loads a whole version into the server's memory, if necessary; some servers unload it at a restart.

        Args:
          collection: the version's collection.
          version: the version's record.
          seconds: timeout of the call.

        Returns:
          whether the version had to be loaded.

        Raises:
          DataError: as in `ask`.
        """
        state: str = self.ask("get_load_state", collection, read=lambda answer: answer["state"].name)
        if state == "Loaded":
            return False
        log.warning("%s in %s is not loaded; loading it", collection, self.address)
        self.ask("load_collection", collection, replica_number=version.replicas, seconds=seconds)
        return True

    def foreign(self, collection: str) -> DataError:
        """Returns the error for a collection that `clir` did not write."""
        return DataError(
            f"{self.address} names the collection {collection}, which `clir` did not write and leaves as it is. Choose "
            "another name."
        )

    def _unreachable(self, error: Exception) -> DataError:
        return DataError(
            f"no Milvus answers at {self.address}{self._route}: {self._error_text(error)}. Start it, or name another "
            f"address; if it needs a token, set the environment variable {TOKEN_VARIABLE}."
        )

    def _error_text(self, error: Exception) -> str:
        """Returns the first line of an error; only its code if the text may contain the token."""
        if self._has_token:
            code = error.code() if isinstance(error, grpc.Call) else getattr(error, "code", "unknown")
            return f"code {getattr(code, 'name', code)}"
        if isinstance(error, ValidationError):
            return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        text = error.details() if isinstance(error, grpc.Call) else getattr(error, "message", "")
        return ((str(text or "").strip() or str(error)).splitlines() or [""])[0].rstrip(".")


def import_client() -> Any:
    """Imports pymilvus without setting up its logging, which would close all handlers of this process.

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


def record_of(version: MilvusVersion) -> dict[str, str]:
    """Returns the properties of a version's collection."""
    return {_PROPERTY: version.to_json()}


def _collection_name(answer: Any) -> str:
    if not (isinstance(name := answer["collection_name"], str) and name):
        raise ValueError(f"the collection behind an alias must have a name; got {name!r}")
    return name


def _version(answer: Any) -> MilvusVersion | None:
    """Returns the record among a collection's properties; None without a record that this version can read."""
    record = answer.get("properties", {}).get(_PROPERTY)
    try:
        return MilvusVersion.from_json(record) if record else None
    except ValueError:
        return None


def _count(answer: Any) -> int:
    (row,) = answer
    return operator.index(row["count(*)"])
