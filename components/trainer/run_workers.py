"""Starts the workers of a training that run on this machine, and watches them until the last has ended."""

import json
import logging
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import IO, Any, Final

from components.trainer import worker
from models.settings import TrainingSettings
from models.training.workers import Cluster
from schemas.errors import ConfigError, DataError, WorkerDied

_SETTLING_SECONDS: Final = 1.0
"""When one worker dies, others soon fail for want of it: so long is waited for the one that died first."""
_LAST_LINES: Final = 5
_LAST_BYTES: Final = 20_000
_START: Final = f"import sys; sys.path[:] = %r; from {worker.__name__} import main; main()"
"""A worker finds its modules where this process found them."""


def run_workers(
    function: Callable[..., Any], arguments: Mapping[str, Any], settings: TrainingSettings, views: Sequence[Cluster]
) -> Any:
    """Calls a function in each worker; the first that fails ends all, and none outlives this process.

    Args:
      function: a module's; takes the arguments and a strategy over all workers.
      arguments: what JSON has.
      settings: of the training.
      views: of each worker that is started here.

    Returns:
      the result of the first, which is the chief unless it runs elsewhere.

    Raises:
      WorkerDied: a worker ended without a word, or lost another.
      DataError, ConfigError: the function raised it in a worker.
      RuntimeError: it raised another exception, whose traceback this is the text of.
    """
    job = {
        "function": [function.__module__, function.__qualname__],
        "arguments": arguments,
        "training": settings.model_dump(mode="json"),
        "workers_here": len(views),
    }
    with ExitStack() as stack:
        events: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        workers = [
            stack.enter_context(_Worker(view, {**job, "place": place}, events)) for place, view in enumerate(views)
        ]
        for _ in workers:
            first = events.get()
            if not first.is_done:
                deadline = time.monotonic() + _SETTLING_SECONDS
                while time.monotonic() < deadline and not all(one.has_ended for one in workers):
                    time.sleep(0.05)
                raise min([first, *workers], key=lambda one: one.blame).error()
        return workers[0].result


class _Worker:
    """A worker's process.

    Args:
      view: its cluster's.
      job: what it is told.
      events: where it puts itself when it is done, or has ended without.
    """

    def __init__(self, view: Cluster, job: Mapping[str, Any], events: "queue.SimpleQueue[_Worker]") -> None:
        self._view, self._job, self._events = view, job, events
        self._failure: tuple[str, str] | None = None
        self.is_done, self.has_ended, self.result = False, False, None

    def __enter__(self) -> "_Worker":
        self._log: IO[bytes] = tempfile.TemporaryFile()
        self._process: Any = subprocess.Popen(  # whose pipes are there
            [sys.executable, "-c", _START % (sys.path,)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "TF_CONFIG": self._view.tf_config},
            start_new_session=True,  # Ctrl-C is this process's, which then ends them
        )
        self._listener = threading.Thread(target=self._watch, daemon=True)
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # one that is done waits for it
        self._listener.join()
        with suppress(BrokenPipeError):  # what it died before it had read
            self._process.stdin.close()
        self._process.stdout.close()
        self._log.close()

    @property
    def blame(self) -> int:
        """The lower, the more it is this worker that the training ended for: one that lost another is not."""
        if self._failure is None:
            return 0 if self.has_ended and not self.is_done else 3
        return 2 if self._failure[0] == WorkerDied.__name__ else 1

    def error(self) -> Exception:
        """Why it failed."""
        kind, text = self._failure or (WorkerDied.__name__, f"{self._death()}{self._last_lines()}")
        if kind == WorkerDied.__name__:
            return WorkerDied(
                f"all {self._view.workers} workers of the training must live until it ends, but worker "
                f"{self._view.number} {text}\nThe same command goes on from the last epoch that was saved."
            )
        known: dict[str, Exception] = {DataError.__name__: DataError(text), ConfigError.__name__: ConfigError([text])}
        return known.get(kind) or RuntimeError(f"worker {self._view.number} failed:\n{text}")

    def _watch(self) -> None:
        """Tells it what to do, and listens until it has ended."""
        given, told = self._process.stdin, self._process.stdout
        with suppress(BrokenPipeError):  # it has died, which is seen below
            given.write(json.dumps(self._job).encode() + b"\n")
            given.flush()  # and left open: its end is this process's death
        for line in told:
            with suppress(json.JSONDecodeError):  # it died amid a line
                self._hear(*json.loads(line))
        self._process.wait()
        self.has_ended = True
        if not self.is_done:
            self._events.put(self)

    def _hear(self, kind: str, *content: Any) -> None:
        if kind == worker.LOG and self._job["place"] == 0:
            name, level, message = content
            logging.getLogger(name).log(level, "%s", message)
        elif kind == worker.DONE:
            self.is_done, (self.result,) = True, content
            self._events.put(self)
        elif kind == worker.FAILED:
            self._failure = content[0], content[1]

    def _death(self) -> str:
        status = self._process.returncode
        if status >= 0:
            return f"ended with exit status {status}."
        why = "; the system kills so where memory runs out" if -status == signal.SIGKILL else ""
        return f"was killed by {signal.Signals(-status).name}{why}."

    def _last_lines(self) -> str:
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = self._log.read().decode(errors="replace").splitlines()[-_LAST_LINES:]
        return "".join(["\nIts last lines:", *(f"\n  {line}" for line in lines)]) if lines else ""
