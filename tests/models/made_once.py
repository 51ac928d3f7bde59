"""Folders that take seconds to make and are the same each time."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path


def made_once(make: Callable[..., None], path: Path, *arguments: object) -> None:
    """Makes a folder, and files beside it, or copies those that were made before.

    Args:
      make: makes them, given the folder's path and the arguments.
      path: of the folder.
      *arguments: what else decides on the content.
    """
    for made in _made(make, *arguments).iterdir():
        if made.is_dir():
            shutil.copytree(made, path, dirs_exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made, path.parent)


@cache
def _made(make: Callable[..., None], *arguments: object) -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    make(folder / "made", *arguments)
    return folder
