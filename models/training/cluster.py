"""Runs a training in this process, or in workers that it starts and watches on this machine."""

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
from typing import IO, Any, Final, TypeAlias

import tensorflow as tf

from models.training import worker
from models.training.devices import make_strategy
from models.training.settings import TrainingSettings
from models.training.workers import Cluster
from schemas.errors import ConfigError, DataError, WorkerDied
from schemas.json_files import parse_json

_SETTLING_SECONDS: Final = 1.0
"""Time to wait after a first failure, because a worker's death may be seen after the failures that it causes."""
_LAST_LINES: Final = 5
_LAST_BYTES: Final = 20_000
_START: Final = f"import sys; sys.path[:] = %r; from {worker.__name__} import main; main()"
"""The code of a worker, which has this process's paths of modules."""

_VARIABLE: Final = "TF_CONFIG"

Training: TypeAlias = Callable[[dict[str, Any], tf.distribute.Strategy], Any]
"""A function at the top of a module whose arguments and result are JSON values."""


def run_training(function: Training, arguments: dict[str, Any], settings: TrainingSettings) -> Any:
    """Calls a function with a strategy, here or in each of several workers.

    A child process joins the cluster of TF_CONFIG; without a cluster, `training.workers` child processes are started. A
    cluster can only be joined before TensorFlow's first op.

    Args:
      function: the function that trains.
      arguments: its arguments.
      settings: the settings of the training.

    Returns:
      the function's result, or the chief's among several workers; None if the chief runs elsewhere.

    Raises:
      DataError: a worker died, or the function raised it.
      ConfigError: TF_CONFIG or the devices do not fit the settings.
    """
    if cluster := joined_cluster(settings):
        return run_workers(function, arguments, settings, [cluster])
    if settings.workers and settings.workers > 1:
        return run_workers(function, arguments, settings, Cluster.on_loopback(settings.workers))
    return function(arguments, make_strategy(settings))


def joined_cluster(settings: TrainingSettings) -> Cluster | None:
    """Returns the cluster of several workers in TF_CONFIG, which Kubernetes' training operators set, or None.

    Raises:
      ConfigError: TF_CONFIG cannot be read, or its number of workers is not `training.workers`.
    """
    text = os.environ.get(_VARIABLE, "")
    cluster = Cluster.parse(text) if '"cluster"' in text else None
    if cluster is None or cluster.workers == 1:
        return None
    if settings.workers not in (None, cluster.workers):
        raise ConfigError(
            [f"training.workers must be null, or {cluster.workers}, as TF_CONFIG says; got {settings.workers}."]
        )
    return cluster


def run_workers(
    function: Callable[..., Any], arguments: Mapping[str, Any], settings: TrainingSettings, views: Sequence[Cluster]
) -> Any:
    """Calls a function in each worker; the first failure, or the end of this process, ends all workers.

    Args:
      function: see `Training`; its strategy is over all workers.
      arguments: its arguments.
      settings: the settings of the training.
      views: the cluster as seen by each worker that is started here.

    Returns:
      the result of the first worker, the chief unless it runs elsewhere.

    Raises:
      WorkerDied: a worker ended without a message, or lost another worker.
      DataError, ConfigError: the function raised it in a worker.
      RuntimeError: the function raised another exception; the text is its traceback.
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
            stack.enter_context(_Worker(view, {**job, "index": index}, events)) for index, view in enumerate(views)
        ]
        for _ in workers:
            first = events.get()
            if not first.is_done:
                deadline = time.monotonic() + _SETTLING_SECONDS
                while time.monotonic() < deadline and not all(process.has_ended for process in workers):
                    time.sleep(0.05)
                raise min([first, *workers], key=lambda process: process.blame).error()
        return workers[0].result


class _Worker:
    """The process of a worker; puts itself into the queue when it is done or has failed."""

    def __init__(self, view: Cluster, job: Mapping[str, Any], events: "queue.SimpleQueue[_Worker]") -> None:
        self._view, self._job, self._events = view, job, events
        self._failure: tuple[str, str] | None = None
        self.is_done, self.has_ended, self.result = False, False, None

    def __enter__(self) -> "_Worker":
        self._log: IO[bytes] = tempfile.TemporaryFile()
        self._process: Any = subprocess.Popen(  # Any, because its pipes are never None
            [sys.executable, "-c", _START % (sys.path,)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "TF_CONFIG": self._view.tf_config},
            start_new_session=True,  # Ctrl-C reaches only this process, which then ends the workers
        )
        self._listener = threading.Thread(target=self._watch, daemon=True)
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # a finished worker waits for this
        self._listener.join()
        with suppress(BrokenPipeError):  # it died before it had read everything
            self._process.stdin.close()
        self._process.stdout.close()
        self._log.close()

    @property
    def blame(self) -> int:
        """The worker's rank as the cause of a failure: first workers that died, then errors, then lost connections."""
        if self._failure is None:
            return 0 if self.has_ended and not self.is_done else 3
        return 2 if self._failure[0] == WorkerDied.__name__ else 1

    def error(self) -> Exception:
        """Returns the error that the worker's end stands for."""
        kind, text = self._failure or (WorkerDied.__name__, f"{self._death()}{self._last_lines()}")
        if kind == WorkerDied.__name__:
            return WorkerDied(
                f"the training stopped, because worker {self._view.number} of {self._view.workers} {text}\nThe same "
                "command resumes from the last saved epoch."
            )
        known: dict[str, Exception] = {DataError.__name__: DataError(text), ConfigError.__name__: ConfigError([text])}
        return known.get(kind) or RuntimeError(f"worker {self._view.number} failed:\n{text}")

    def _watch(self) -> None:
        """Sends the job, and listens until the worker has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        with suppress(BrokenPipeError):  # it has died; the lines below find out
            stdin.write(json.dumps(self._job).encode() + b"\n")
            stdin.flush()  # and left open: it closes when this process dies
        for line in stdout:
            with suppress(ValueError):  # it died amid a line
                self._hear(*parse_json(line))
        self._process.wait()
        self.has_ended = True
        if not self.is_done:
            self._events.put(self)

    def _hear(self, kind: str, *content: Any) -> None:
        if kind == worker.LOG and self._job["index"] == 0:
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
        why = ", as the system does when memory runs out" if -status == signal.SIGKILL else ""
        return f"was killed by {signal.Signals(-status).name}{why}."

    def _last_lines(self) -> str:
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = self._log.read().decode(errors="replace").splitlines()[-_LAST_LINES:]
        return "".join(["\nIts last lines:", *(f"\n  {line}" for line in lines)]) if lines else ""
