"""Lock files, so that only one process at a time writes a folder."""

import fcntl
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schemas.errors import DataError

_POLL_SECONDS: Final = 0.2

log = logging.getLogger("clir.lock")


@contextmanager
def held_lock(path: Path, busy: str, wait_seconds: float = 0.0) -> Iterator[None]:
    """Holds a lock file; creates it if it is missing, and neither reads nor changes its content.

    The kernel frees the lock when the process ends, however it ends.

    Args:
      path: the file, in a folder that exists.
      busy: the error's sentence where another process holds the lock.
      wait_seconds: seconds to wait for the other process.

    Raises:
      DataError: another process holds the lock, or the path cannot be a lock, such as a link, which could lead to a
        file elsewhere.
    """
    fault = "it is a link" if path.is_symlink() else "not a file" if path.exists() and not path.is_file() else None
    if fault:
        raise _lock_error(path, fault)
    try:
        lock = open(path, "a")
    except OSError as error:
        raise _lock_error(path, str(error.strerror)) from None
    with lock:
        _take(lock.fileno(), path, busy, wait_seconds)
        yield


def _take(lock: int, path: Path, busy: str, wait_seconds: float) -> None:
    started, is_waiting = time.monotonic(), False
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() - started >= wait_seconds:
                raise DataError(busy) from None
        if not is_waiting:
            log.warning("waiting at most %.0f s for another process that writes %s", wait_seconds, path.parent)
        is_waiting = True
        time.sleep(_POLL_SECONDS)


def _lock_error(path: Path, fault: str) -> DataError:
    return DataError(f"{path} cannot be used as a lock file ({fault}). Move it away, or choose another output.")
