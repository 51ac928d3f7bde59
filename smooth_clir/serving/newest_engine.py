"""Finds the newest model and index, and puts them in the place of older ones without a pause."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.index_pusher.index_versions import IndexVersions
from models.exported.model import ExportedModel, LoadedModel
from models.exported.versions import checked_fingerprint, model_fingerprint
from models.retrieval.corpus_index import CorpusIndex
from models.retrieval.index_files import read_manifest
from models.retrieval.milvus import SECONDS, Milvus
from models.retrieval.milvus_index import MilvusIndex
from models.retrieval.milvus_settings import MilvusAddress
from models.retrieval.search_index import SearchIndex
from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE
from schemas.served_versions import GRAPH_FILE, served_versions
from smooth_clir.serving.engine import Engine, Languages
from smooth_clir.serving.example_queries import read_example_queries
from smooth_clir.serving.refusals import RETRY_AFTER, Busy

if TYPE_CHECKING:
    from smooth_clir.serving.telemetry import SwapLog

AGAIN_SECONDS: Final = 60.0
"""Seconds until a version that could not be loaded is tried again: it may have been incomplete."""


class FolderEngines:
    """Engines of what runs and `clir index` write: each version of an index with the model that made it.

    Args:
      models: a serving folder, or one version in it.
      index: the folder of an index's versions, or one version in it; or an address in Milvus.
      connect: makes the model of a version's number, where the model runs elsewhere.
      languages: languages of queries and documents, where they are known.
      seconds: longest time of a call of Milvus.
      gain: gain of the second pass, see `Engine`.
    """

    def __init__(
        self,
        models: str,
        index: str,
        connect: Callable[[str], ExportedModel] | None = None,
        languages: Languages | None = None,
        seconds: int = SECONDS,
        gain: float | None = None,
    ) -> None:
        self._models = models
        self._indexes: _Folder | _InMilvus = (
            _InMilvus(MilvusAddress.parse(index), seconds) if MilvusAddress.is_one(index) else _Folder(index)
        )
        self._connect, self._languages, self._gain = connect, languages, gain
        self._fingerprints = dict[tuple[str, int, int], str]()

    def newest(self) -> str | None:
        """The newest version of the index, for `load`; None where there is none.

        Raises:
          DataError: the index is in Milvus, which does not answer, or has something else under this name.
        """
        return self._indexes.newest()

    def load(self, version: str) -> Engine:
        """Loads a version of the index, as `newest` names it, and its model.

        Raises:
          DataError: the index is damaged, or another one by now, the model that made it is missing, or the example
            queries beside it are damaged.
        """
        index, model = self._open(version)
        examples = read_example_queries(model)  # before a connection is open, which nothing would close
        served = self._connect(os.path.basename(model)) if self._connect else LoadedModel(model)
        return Engine(served, index, version.partition("@")[0], self._languages, examples, self._gain)

    def load_pair(self, version: str) -> tuple[CorpusIndex, LoadedModel]:
        """Loads a version of an index on disk and its model, for other work than that of an engine; raises as `load`.

        Raises:
          DataError: the index is in Milvus.
        """
        index, model = self._open(version)
        if not isinstance(index, CorpusIndex):
            raise DataError(f"{self._indexes.place(version)} must be an index on disk; give its folder by --index.")
        return index, LoadedModel(model)

    def _open(self, version: str) -> tuple[SearchIndex, str]:
        """The index, and the folder of its model."""
        index = self._indexes.open(version)
        return index, self._model_of(index.model, self._indexes.place(version))

    def _model_of(self, fingerprint: str, index: str) -> str:
        """The folder of the newest model with this fingerprint.

        Raises:
          DataError: there is none; where a model is damaged, the message names it.
        """
        folders = self._versions()
        for folder in folders:
            if not os.path.isfile(path := os.path.join(folder, GRAPH_FILE)):
                continue
            graph = os.stat(path)
            written = (folder, graph.st_mtime_ns, graph.st_size)
            if written not in self._fingerprints:
                self._fingerprints[written] = model_fingerprint(folder)
            if self._fingerprints[written] == fingerprint:
                return folder
        for folder in folders:
            checked_fingerprint(folder)  # a model with a changed byte is another: this says so
        raise DataError(
            f"{index} must be the index of a model in {self._models}; it is of none of these: "
            f"{', '.join(map(os.path.basename, folders)) or 'there is none'}. Make it again with `clir index`."
        )

    def _versions(self) -> list[str]:
        if os.path.isfile(os.path.join(self._models, GRAPH_FILE)):
            return [os.path.abspath(self._models)]
        return [os.path.join(self._models, one) for one in reversed(served_versions(os.listdir(self._models)))]


class _Folder:
    """The versions of an index on disk.

    Args:
      folder: the folder of the versions, or one version.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def newest(self) -> str | None:
        """The newest version: its number and its content's identity, `NUMBER@IDENTITY`.

        A number alone does not tell: an index that was removed and made again has the number of the one before.
        """
        if os.path.isfile(os.path.join(self._folder, MANIFEST_FILE)):
            folder = os.path.abspath(self._folder)
        else:
            newest = IndexVersions(self._folder).newest()
            if newest is None:
                return None
            folder = str(newest)
        try:
            identity = read_manifest(folder).identity
        except DataError:
            identity = ""  # `open` says why
        return f"{os.path.basename(folder)}@{identity}"

    def open(self, version: str) -> CorpusIndex:
        """Opens a version.

        Raises:
          DataError: it is damaged, or another one by now.
        """
        folder = self.place(version)
        try:
            index = CorpusIndex(folder)
        except DataError as error:
            versions = IndexVersions(Path(folder).absolute().parent)
            raise DataError(f"{error} {versions.way_back(Path(folder))}") from None
        if index.identity != version.partition("@")[2]:
            raise DataError(f"{folder} must not change while it is loaded. It is loaded again once it stays as it is.")
        return index

    def place(self, version: str) -> str:
        """The version's folder."""
        path = os.path.join(self._folder, version.partition("@")[0])
        return path if os.path.isdir(path) else self._folder


class _InMilvus:
    """The versions of an index in Milvus.

    Args:
      address: the server, and the index's name.
      seconds: longest time of a call.
    """

    def __init__(self, address: MilvusAddress, seconds: int) -> None:
        self._address, self._seconds = address, seconds

    @cached_property
    def _milvus(self) -> Milvus:
        return Milvus(self._address, self._seconds)

    def newest(self) -> str | None:
        """The newest version, `NUMBER@COLLECTION`; the collection's name changes with its content.

        Raises:
          DataError: Milvus does not answer, or has something else under this name.
        """
        collection = self._milvus.newest()
        return f"{self._milvus.version(collection).number}@{collection}" if collection else None

    def open(self, version: str) -> MilvusIndex:
        """Opens a version.

        Raises:
          DataError: Milvus does not answer, or the collection is not a whole index.
        """
        return MilvusIndex(self._milvus, version.partition("@")[2])

    def place(self, version: str) -> str:
        """The version's collection."""
        return f"{version.partition('@')[2]} in {self._address}"


class EngineHolder:
    """Holds the engine that answers now.

    A newer one is loaded and warmed beside it; then one reference is swapped. The older one finishes its requests and
    is closed after the last of them. So no request is dropped, and none sees two versions.

    Args:
      source: the source of engines.
      log: the record of swaps.
      poll_seconds: seconds between two looks for a newer engine.
    """

    def __init__(self, source: FolderEngines, log: "SwapLog", poll_seconds: float) -> None:
        self._source, self._log, self._poll_seconds = source, log, poll_seconds
        self._lock = threading.Condition()
        self._current: _InUse | None = None
        self._name: str | None = None
        self._failed: tuple[str, float] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="engines", daemon=True)

    def load_first(self) -> None:
        """Loads the newest pair.

        Raises:
          DataError: there is none, or it is damaged.
        """
        name = self._source.newest()
        if name is None:
            raise DataError("there must be a model and an index that it made; there are none. Make one: `clir index`.")
        self._put(name)

    def start(self) -> None:
        """Begins to look for newer pairs."""
        self._thread.start()

    def stop(self) -> None:
        """Stops looking, and closes the engine unless a request still uses it."""
        self._stop.set()
        with self._lock:
            current, self._current = self._current, None
            is_free = current is not None and current.users == 0
        if current and is_free:
            current.engine.close()

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Yields the engine that answers now; it stays open within the block.

        Raises:
          Busy: there is none.
        """
        with self._lock:
            found = self._current
            if found is None:
                raise Busy(f"no model and index are loaded now; ask again in {RETRY_AFTER} s.")
            found.users += 1
        try:
            yield found.engine
        finally:
            with self._lock:
                found.users -= 1
                self._lock.notify_all()

    def refresh(self) -> None:
        """Puts a newer pair in the place of this one, if there is one that can be loaded."""
        name = self._source.newest()
        if name is None or name == self._name:
            return
        if self._failed and self._failed[0] == name and time.monotonic() < self._failed[1] + AGAIN_SECONDS:
            return
        try:
            self._put(name)
        except Exception as error:  # whatever it is, the engine before it goes on
            self._failed = name, time.monotonic()
            self._log.failed(name, error)

    def _put(self, name: str) -> None:
        started = time.monotonic()
        engine = self._source.load(name)
        try:
            engine.warm()
        except Exception:
            engine.close()
            raise
        with self._lock:
            before, self._current = self._current, _InUse(engine)
            self._name, self._failed = name, None
        self._log.swapped(engine, time.monotonic() - started)
        if before:
            self._drain(before)

    def _drain(self, before: "_InUse") -> None:
        started = time.monotonic()
        with self._lock:
            self._lock.wait_for(lambda: before.users == 0)
        before.engine.close()
        self._log.drained(before.engine, time.monotonic() - started)

    def _look(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            try:
                self.refresh()
            except Exception as error:  # a folder that cannot be read now may be readable the next time
                self._log.failed("the newest", error)


class _InUse:
    """An engine, and the number of requests that use it."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.users = engine, 0
