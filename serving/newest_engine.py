"""Finds the newest model and index, and puts them in the place of older ones without a pause."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from components.index_pusher.index_versions import IndexVersions
from models.exported.versions import model_fingerprint
from models.retrieval.corpus_index import CorpusIndex, read_manifest
from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE
from schemas.served_versions import served_versions
from serving.engine import Engine, Languages
from serving.refusals import Busy
from serving.served_model import LocalModel, ServedModel

_RETRY_AFTER: Final = 5
AGAIN_SECONDS: Final = 60.0
"""After which a version that could not be loaded is tried again: it may have been written badly, or not to its end."""


class EngineSource(Protocol):
    """Where engines come from."""

    def newest(self) -> str | None:
        """What the newest pair of model and index is called; None where there is none."""

    def load(self, name: str) -> Engine:
        """A pair by this name."""


class SwapWatch(Protocol):
    """Who wants to know of swaps."""

    def swapped(self, engine: Engine, seconds: float) -> None:
        """An engine answers from now on; it took so long to load and to warm it."""

    def drained(self, engine: Engine, seconds: float) -> None:
        """An engine has answered its last request, so long after another took its place."""

    def failed(self, name: str, error: Exception) -> None:
        """A pair could not be loaded; the engine before it goes on."""


class EngineHolder:
    """The engine that answers now.

    A newer one is loaded and warmed beside it; then one reference is swapped. Whoever asks the older one is answered by
    it; it is closed when nobody does any more. So no request is dropped, and none sees two versions.

    Args:
      source: of engines.
      watch: is told of swaps.
      poll_seconds: between two looks for a newer one.
    """

    def __init__(self, source: EngineSource, watch: SwapWatch, poll_seconds: float) -> None:
        self._source, self._watch, self._poll_seconds = source, watch, poll_seconds
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
        """Looks no more, and closes the engine, unless a request is still with it: nothing ends that but its answer."""
        self._stop.set()
        with self._lock:
            current, self._current = self._current, None
            is_free = current is not None and current.users == 0
        if current and is_free:
            current.engine.close()

    @property
    def is_ready(self) -> bool:
        """Whether there is an engine."""
        return self._current is not None

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """The engine that answers now; it stays whole within the block.

        Raises:
          Busy: there is none.
        """
        with self._lock:
            found = self._current
            if found is None:
                raise Busy(f"no model and index are loaded now; ask again in {_RETRY_AFTER} s.", _RETRY_AFTER)
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
            self._watch.failed(name, error)

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
        self._watch.swapped(engine, time.monotonic() - started)
        if before:
            self._drain(before)

    def _drain(self, before: "_InUse") -> None:
        started = time.monotonic()
        with self._lock:
            self._lock.wait_for(lambda: before.users == 0)
        before.engine.close()
        self._watch.drained(before.engine, time.monotonic() - started)

    def _look(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            try:
                self.refresh()
            except Exception as error:  # a folder that cannot be read now may be read the next time
                self._watch.failed("the newest", error)


class _InUse:
    """An engine, and how many requests are with it."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.users = engine, 0


_MODEL_FILE: Final = "saved_model.pb"


class FolderEngines:
    """An `EngineSource` of folders: the newest version of an index, with the model that made it.

    Args:
      models: a serving folder, or one version in it.
      index: the folder of an index's versions, or one version in it.
      connect: makes the model of a version's number, where it is not to be loaded here.
      languages: of queries and documents, if they are known.
    """

    def __init__(
        self,
        models: str,
        index: str,
        connect: Callable[[str], ServedModel] | None = None,
        languages: Languages | None = None,
    ) -> None:
        self._models, self._index = models, index
        self._connect, self._languages = connect, languages
        self._fingerprints = dict[str, str]()

    def newest(self) -> str | None:
        """The number of the newest version of the index."""
        if os.path.isfile(os.path.join(self._index, MANIFEST_FILE)):
            return os.path.basename(os.path.abspath(self._index))
        newest = IndexVersions(self._index).newest()
        return None if newest is None else newest.name

    def load(self, name: str) -> Engine:
        """The engine of a version of the index.

        Raises:
          DataError: the index is damaged, or there is no model that made it.
        """
        path = os.path.join(self._index, name)
        folder = path if os.path.isdir(path) else self._index
        model = self._model_of(read_manifest(folder).model, folder)
        served = self._connect(os.path.basename(model)) if self._connect else LocalModel(model)
        return Engine(served, CorpusIndex(folder), name, self._languages)

    def _model_of(self, fingerprint: str, index: str) -> str:
        """The folder of the model that made an index, the newest of equal ones."""
        folders = self._versions()
        for folder in folders:
            if folder not in self._fingerprints:
                self._fingerprints[folder] = model_fingerprint(folder)
            if self._fingerprints[folder] == fingerprint:
                return folder
        raise DataError(
            f"{index} must be the index of a model in {self._models}; it is of none of these: "
            f"{', '.join(map(os.path.basename, folders)) or 'there is none'}. Make it anew with `clir index`."
        )

    def _versions(self) -> list[str]:
        if os.path.isfile(os.path.join(self._models, _MODEL_FILE)):
            return [os.path.abspath(self._models)]
        return [os.path.join(self._models, one) for one in reversed(served_versions(os.listdir(self._models)))]
