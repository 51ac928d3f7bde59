"""One run at a time in an output folder: a lock that dies with its process."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import DataError

LOCK_FILE = ".lock"


@contextmanager
def run_lock(output: Path) -> Iterator[None]:
    """Holds an output folder, which is made where it is missing.

    The kernel frees the lock with the process that holds it, however that ends.

    Raises:
      DataError: another run holds the folder.
    """
    output.mkdir(parents=True, exist_ok=True)
    with open(output / LOCK_FILE, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"{output} must be written by one run at a time, and another run is at work there; "
                "wait for it, or choose another output."
            ) from None
        yield
