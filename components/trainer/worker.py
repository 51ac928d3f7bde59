"""One worker of a training, in a process of its own; `run_workers` starts it and tells it what to do.

Its stdin holds the job, a line of JSON, and stays open as long as the process that started it lives. Its stdout holds
what it tells that process, a line of JSON each. What else is printed goes to stderr.
"""

import json
import logging
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from importlib import import_module
from typing import IO, Any, Final

LOG: Final = "log"
"""What it tells: [LOG, name of the logger, level, message]"""
DONE: Final = "done"
"""[DONE, result]"""
FAILED: Final = "failed"
"""[FAILED, name of the error's class, text], where that is a user's error; else its traceback"""

_ENDS: Final = {
    "ollective ops is aborted": "lost another one",
    "Could not start gRPC server": "could not listen at its address, which another program may have taken",
}
"""What TensorFlow says in a worker for no fault of the training, and what that means."""


def main() -> None:
    """Does the job on stdin; ends as soon as the process that gave it does."""
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    job = json.loads(sys.stdin.readline() or "null")
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    if job is None:  # it died before it could tell
        return
    logger = logging.getLogger("clir")
    logger.addHandler(_Teller(told))
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        result = _do(job)
    except Exception as error:
        _tell(told, FAILED, *_described(error))
        sys.exit(1)
    _tell(told, DONE, result)
    threading.Event().wait()  # to be ended: the others may still be leaving the cluster


def _do(job: dict[str, Any]) -> Any:
    """Calls the job's function when all workers are there, and returns its result when all are done."""
    import tensorflow as tf

    from models.settings import TrainingSettings
    from models.training.devices import configure_worker, join_workers
    from models.training.workers import Chief  # TensorFlow, which the thread above shall not wait for

    settings = TrainingSettings(**job["training"])
    configure_worker(settings, job["place"], job["workers_here"])
    strategy = join_workers(settings)
    module, name = job["function"]
    result = getattr(import_module(module), name)(job["arguments"], strategy)
    chief = Chief(strategy)
    chief.tells(0.0)  # what the chief writes is there when any worker ends
    with suppress(tf.errors.OpError):
        chief.tells(0.0)  # none leaves that another still hears; and who is not there any more has heard all
    return result


def _described(error: Exception) -> tuple[str, str]:
    """An error's kind and text."""
    from schemas.errors import ConfigError, DataError, WorkerDied

    for kind in (ConfigError, DataError):
        if isinstance(error, kind):
            return kind.__name__, str(error)
    for line in str(error).splitlines():
        for said, meaning in _ENDS.items():
            if said in line:
                return WorkerDied.__name__, f"{meaning}: {line.strip()}."
    return type(error).__name__, traceback.format_exc()


def _die_with_the_parent() -> None:
    """Two runs would write into one folder, if a worker outlived its own and that were started again."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)


def _tell(told: IO[str], *message: Any) -> None:
    print(json.dumps(message), file=told, flush=True)


class _Teller(logging.Handler):
    """Tells of the project's own messages.

    Args:
      told: where.
    """

    def __init__(self, told: IO[str]) -> None:
        super().__init__()
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        """Tells of one."""
        _tell(self._told, LOG, record.name, record.levelno, record.getMessage())
