"""Replaces a model and its index by a newer pair without a pause."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from schemas.errors import DataError
from smooth_clir.retrieval.engine import Engine
from smooth_clir.retrieval.folder_engines import FolderEngines
from smooth_clir.serving.refusals import RETRY_AFTER, Busy

if TYPE_CHECKING:
    from smooth_clir.serving.telemetry import SwapLog

AGAIN_SECONDS: Final = 60.0
"""Seconds until a version that could not be loaded is tried again, because it may have been incomplete."""


class EngineHolder:
    """Holds the engine that answers now.

    A newer engine is loaded and warmed while the current engine answers; then a reference is swapped. The previous
    engine finishes its requests and is closed. So no request is dropped, and no request sees two versions.

    Args:
      source: the source of engines.
      log: the log of swaps.
      poll_seconds: seconds between two checks for a newer engine.
    """

    def __init__(self, source: FolderEngines, log: "SwapLog", poll_seconds: float) -> None:
        self._source, self._log, self._poll_seconds = source, log, poll_seconds
        self._lock = threading.Condition()
        self._current: _InUse | None = None
        self._name: str | None = None
        self._failed: tuple[str, float] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="engines", daemon=True)

    def load_first(self) -> None:
        """Loads the newest model and index.

        Raises:
          DataError: the index is missing or damaged.
        """
        name = self._source.newest()
        if name is None:
            raise DataError("No index found. Make one with `clir index`.")
        self._swap_in(name)

    def start(self) -> None:
        """Starts to check for newer versions."""
        self._thread.start()

    def stop(self) -> None:
        """Stops checking, and closes the engine unless a request still uses it."""
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
          Busy: no engine is loaded.
        """
        with self._lock:
            current = self._current
            if current is None:
                raise Busy(f"no model and index are loaded now; ask again in {RETRY_AFTER} s.")
            current.users += 1
        try:
            yield current.engine
        finally:
            with self._lock:
                current.users -= 1
                self._lock.notify_all()

    def refresh(self) -> None:
        """Replaces the engine by the newest version, if there is a newer one that can be loaded."""
        name = self._source.newest()
        if name is None or name == self._name:
            return
        if self._failed and self._failed[0] == name and time.monotonic() < self._failed[1] + AGAIN_SECONDS:
            return
        try:
            self._swap_in(name)
        except Exception as error:  # after any error the current engine goes on
            self._failed = name, time.monotonic()
            self._log.failed(name, error)

    def _swap_in(self, name: str) -> None:
        started = time.monotonic()
        engine = self._source.load(name)
        try:
            engine.warm()
        except Exception:
            engine.close()
            raise
        with self._lock:
            previous, self._current = self._current, _InUse(engine)
            self._name, self._failed = name, None
        self._log.swapped(engine, time.monotonic() - started)
        if previous:
            self._drain(previous)

    def _drain(self, previous: "_InUse") -> None:
        started = time.monotonic()
        with self._lock:
            self._lock.wait_for(lambda: previous.users == 0)
        previous.engine.close()
        self._log.drained(previous.engine, time.monotonic() - started)

    def _poll(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            try:
                self.refresh()
            except Exception as error:  # the folder may be readable the next time
                self._log.failed("the newest", error)


class _InUse:
    """An engine, and the number of requests that use it."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.users = engine, 0
