"""Opens a user's file to read it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from schemas.errors import DataError

OpenFile: TypeAlias = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""


@contextmanager
def opened(path: str, open_file: OpenFile) -> Iterator[Any]:
    """The stream of a file's bytes.

    Raises:
      DataError: the file cannot be opened.
    """
    try:
        stream = open_file(path, "rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}; name a file that can.") from error
    with stream:
        yield stream
