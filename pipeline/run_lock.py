"""One run at a time in an output folder: a lock that dies with its process."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.layout import LOCK_FILE
from schemas.errors import DataError


@contextmanager
def run_lock(output: Path) -> Iterator[None]:
    """Holds an output folder, which is made where it is missing.

    The kernel frees the lock with the process that holds it, however that ends.

    Raises:
      DataError: another run holds the folder, or the lock cannot be written.
    """
    output.mkdir(parents=True, exist_ok=True)
    try:
        lock = open(output / LOCK_FILE, "a")
    except OSError as error:
        raise DataError(
            f"{output / LOCK_FILE} must be a file that you can write, for it tells whether a run is at work; "
            f"{error.strerror}: move it away, or choose another output."
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"{output} must be written by one run at a time, and another run is at work there; "
                "wait for it, or choose another output."
            ) from None
        yield
