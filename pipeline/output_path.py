"""Checks of an output's path: whether the system and the libraries can write there."""

import os
import tempfile
from pathlib import Path
from typing import Final, Literal

from pipeline.input_files import is_remote
from pipeline.layout import METADATA_FILE
from schemas.errors import ConfigError

_PATTERN_SIGNS: Final = "[]*?\\"
"""The characters with a meaning in the patterns of TensorFlow, TFX or Beam."""
_LONGEST_OUTPUT: Final = 504 - len(f"/{METADATA_FILE}")
"""SQLite opens paths of at most 512 bytes, including the `-journal` that it adds."""


def local_output(output: str) -> Path:
    """Returns the folder of an output on this machine.

    Raises:
      ConfigError: the output is elsewhere.
    """
    if is_remote(output):
        raise ConfigError(
            [f"output: must be a local folder, because a local run keeps metadata and a lock there; got {output}."]
        )
    return Path(output)


def name_fault(path: str, kind: Literal["file", "folder"]) -> str | None:
    """Returns why a path does not name a file or a folder of this machine, or None."""
    return None if path and "://" not in path else f"must be a local {kind}; got {path!r}."


def local_fault(path: str, kind: Literal["file", "folder"]) -> str | None:
    """Returns why a command cannot write a file or a folder, or None.

    Args:
      path: the path, as the user gave it.
      kind: whether a file or a folder is written; the folder of a file must exist.
    """
    if fault := name_fault(path, kind):
        return fault
    if kind == "folder":
        return write_fault(Path(path))
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe or a device may never end
        return f"must be a file; {path} is a {'folder' if os.path.isdir(path) else 'pipe or a device'}."
    folder = os.path.dirname(path) or "."
    if fault := write_fault(Path(folder).absolute()):
        return f"the folder of {path} {fault}"
    return None if os.path.isdir(folder) else f"the folder {folder} does not exist; make it, or choose another."


def write_fault(folder: Path) -> str | None:
    """Returns why a folder cannot be written, or None. Tries to write, because permissions alone do not tell."""
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        if not existing.is_dir():
            return f"must be a folder, but {existing} is a {'file' if existing.is_file() else 'pipe or a device'}."
        tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        return f"must be a folder that can be written; {folder} cannot: {error.strerror}."
    return None


def pattern_fault(folder: str, library: str) -> str | None:
    """Returns why a library does not find its files in a folder, or None; without a full stop."""
    if signs := sorted(set(os.path.realpath(folder)) & set(_PATTERN_SIGNS)):
        return (
            f"must hold none of {' '.join(_PATTERN_SIGNS)}, because {library} finds its files by patterns; got "
            f"{' '.join(signs)} in {folder!r}"
        )
    return None


def length_fault(output: str) -> str | None:
    """Returns why SQLite cannot open the metadata in a folder, or None."""
    size = max(len(os.fsencode(path(output))) for path in (os.path.abspath, os.path.realpath))
    if size > _LONGEST_OUTPUT:
        return (
            f"must be a path of at most {_LONGEST_OUTPUT} bytes, the limit for SQLite's file in it; got {size}: choose "
            "a shorter path."
        )
    return None
