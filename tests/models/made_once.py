"""Folders that take seconds to make and are the same each time: models, indices, lexicons.

They are kept in `build/fixtures`, for all processes and for later runs of the tests, until the code changes that makes
them.
"""

import fcntl
import hashlib
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from pipeline.identity import identity_of_all_stages

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "build" / "fixtures"
KEPT_VERSIONS = 3
"""Folders stay for so many versions of the code: a person goes back and forth between two."""


def made_once(make: Callable[..., None], path: Path, *arguments: object) -> None:
    """Makes a folder, and files beside it, or copies those that were made before.

    Args:
      make: makes them, from the folder's path and the arguments.
      path: of the folder.
      *arguments: what else decides on the content; their `repr` tells them apart.
    """
    for made in _made(make, *arguments).iterdir():
        if made.is_dir():
            shutil.copytree(made, path, dirs_exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made, path.parent)


@cache
def _made(make: Callable[..., None], *arguments: object) -> Path:
    version = FIXTURES / _code_digest()
    name = f"{make.__module__}.{make.__qualname__}{arguments!r}"
    folder = version / hashlib.sha256(name.encode()).hexdigest()[:16]
    if not version.exists():
        version.mkdir(parents=True, exist_ok=True)
        for old in sorted(FIXTURES.iterdir(), key=lambda old: old.stat().st_mtime)[:-KEPT_VERSIONS]:
            shutil.rmtree(old, ignore_errors=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be making it
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished / "made", *arguments)
            unfinished.rename(folder)
    return folder


@cache
def _code_digest() -> str:
    """A digest of all code behind a model, of the libraries, and of what the tests make models with."""
    digest = hashlib.sha256(identity_of_all_stages().encode())
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if not path.name.startswith("test_"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
