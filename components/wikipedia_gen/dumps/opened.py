"""Opens a user's file to read it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from schemas.errors import DataError

OpenFile: TypeAlias = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes, that can be read, sought and told."""


@contextmanager
def opened(path: str, open_file: OpenFile) -> Iterator[Any]:
    """The stream of a file's bytes.

    Raises:
      DataError: the file cannot be opened.
    """
    with opened_if_there(path, open_file) as stream:
        if stream is None:
            raise DataError(f"{path}: cannot be read: there is no such file; name one that is there.")
        yield stream


@contextmanager
def opened_if_there(path: str, open_file: OpenFile) -> Iterator[Any]:
    """The stream of a file's bytes; None if there is no such file.

    Raises:
      DataError: the file is there and cannot be opened.
    """
    stream = None
    try:
        stream = open_file(path, "rb")
        # TensorFlow's streams look for the file at the first byte only.
        stream.read(1)
        stream.seek(0)
    except Exception as error:
        # TensorFlow's error of that name is no OSError.
        if not type(error).__name__.endswith("NotFoundError"):
            if isinstance(error, OSError):
                raise DataError(f"{path}: cannot be read: {error.strerror or error}.") from error
            raise
        stream = None
    if stream is None:
        yield None
        return
    with stream:
        yield stream
