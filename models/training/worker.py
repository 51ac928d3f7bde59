"""A worker of a training, in a process that `run_workers` starts.

Its stdin holds the job, a line of JSON, and stays open as long as the parent process lives. Each line of its stdout is
a message in JSON. All other output goes to stderr.
"""

import json
import logging
import os
import sys
import threading
import traceback
from contextlib import suppress
from importlib import import_module
from typing import IO, Any, Final

from schemas.child_process import die_with_the_parent
from schemas.json_files import parse_json

LOG: Final = "log"
"""A message [LOG, name of the logger, level, text]."""
DONE: Final = "done"
"""The message [DONE, result]."""
FAILED: Final = "failed"
"""The message [FAILED, name of the error's class, text]; for an error that is not a user's, the text is its
traceback."""

_ENDS: Final = {
    "ollective ops is aborted": "lost another one",
    "Could not start gRPC server": "could not listen at its address, which another program may have taken",
}
"""From texts of TensorFlow's errors for which the training is not to blame, to their meaning."""


def main() -> None:
    """Does the job on stdin, and ends as soon as the parent process does."""
    messages = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    job = parse_json(sys.stdin.readline() or "null")
    die_with_the_parent(sys.stdin.read)
    if job is None:  # the parent process died before it had sent the job
        return
    logger = logging.getLogger("clir")
    logger.addHandler(_MessageHandler(messages))
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        result = _do(job)
    except Exception as error:
        _send(messages, FAILED, *_described(error))
        sys.exit(1)
    _send(messages, DONE, result)
    threading.Event().wait()  # until this process is killed: other workers may still be leaving the cluster


def _do(job: dict[str, Any]) -> Any:
    """Waits for all workers, calls the job's function, waits for the others, and returns the result."""
    import tensorflow as tf

    from models.training.devices import configure_worker, join_workers
    from models.training.settings import TrainingSettings
    from models.training.workers import Chief  # imports TensorFlow, after the watchdog thread has started

    settings = TrainingSettings(**job["training"])
    configure_worker(settings, job["index"], job["workers_here"])
    strategy = join_workers(settings)
    module, name = job["function"]
    result = getattr(import_module(module), name)(job["arguments"], strategy)
    chief = Chief(strategy)
    chief.value(0.0)  # a barrier: no worker ends before the chief has written
    with suppress(tf.errors.OpError):
        chief.value(0.0)  # a second barrier: no worker exits while another is still reading; a missing one has read all
    return result


def _described(error: Exception) -> tuple[str, str]:
    """Returns an error's kind and text."""
    from schemas.errors import ConfigError, DataError, WorkerDied

    for kind in (ConfigError, DataError):
        if isinstance(error, kind):
            return kind.__name__, str(error)
    for line in str(error).splitlines():
        for said, meaning in _ENDS.items():
            if said in line:
                return WorkerDied.__name__, f"{meaning}: {line.strip()}."
    return type(error).__name__, traceback.format_exc()


def _send(messages: IO[str], *message: Any) -> None:
    print(json.dumps(message), file=messages, flush=True)


class _MessageHandler(logging.Handler):
    """Sends the project's own log messages."""

    def __init__(self, messages: IO[str]) -> None:
        super().__init__()
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a log message."""
        _send(self._messages, LOG, record.name, record.levelno, record.getMessage())
