"""Paths of a configuration: local or on Google Cloud Storage, one file or a pattern of several."""

import glob
import os
import re
from pathlib import Path
from typing import Any

from schemas.stream_sha256 import stream_sha256


def is_remote(path: str) -> bool:
    """Whether a path lies on Google Cloud Storage."""
    return path.startswith("gs://")


def scheme_fault(path: str) -> str | None:
    """Why a path cannot be used, if it has a scheme that no part of the pipeline can read."""
    scheme = re.match(r"[A-Za-z][\w+.-]*://", path)
    if scheme is None or is_remote(path):
        return None
    return f"must be a local path, or one on Google Cloud Storage (gs://...); got {path!r}."


def resolve_path(path: str, folder: Path) -> str:
    """An absolute path; one with a scheme stays as it is."""
    return path if "://" in path else os.path.realpath(folder / os.path.expanduser(path))


def files_of(path: str) -> list[str]:
    """The files that a path names: itself, or in the order of their names all that match it as a pattern."""
    if is_remote(path):
        from tfx.dsl.io import fileio  # takes seconds

        return sorted(fileio.glob(path)) if glob.has_magic(path) else [path]
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path))


def sha256_of_file(path: str) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with _open(path) as file:
        return stream_sha256(file)


def _open(path: str) -> Any:
    if is_remote(path):
        from tfx.dsl.io import fileio

        return fileio.open(path, "rb")
    return open(path, "rb")
