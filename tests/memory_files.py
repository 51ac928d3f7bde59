"""Files in memory, instead of those of the file system."""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from schemas import file_system


class MemoryFile(io.BytesIO):
    """A file in memory; like TensorFlow's, it cannot seek beyond its end."""

    def seek(self, position: int, whence: int = 0) -> int:
        if whence == 0 and position > len(self.getbuffer()):
            raise ValueError("reached end of file")
        return super().seek(position, whence)


@contextmanager
def in_memory(files: Mapping[str, bytes], stream: Callable[[bytes], Any] = MemoryFile) -> Iterator[None]:
    """Replaces the file system by these files, from path to content."""

    def open_file(path: str, mode: str = "r") -> Any:
        if path not in files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return stream(files[path])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_system, "open_file", open_file)
        yield
