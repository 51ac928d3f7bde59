"""Imports of the large libraries, which only the command that needs them makes."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heavy_imports() -> Iterator[None]:
    """Around imports of the large libraries: they make 600,000 objects that stay.

    To look among them for garbage, again and again, would take three seconds of twelve.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
