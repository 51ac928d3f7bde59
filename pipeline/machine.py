"""The memory of this machine, and checks of its other resources except disk space, before any stage runs."""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from pipeline.output_path import pattern_fault
from schemas.errors import DataError

_LOCKS: Final = 8
"""More locks than a Beam sink or a pool of processes holds at once."""
_LONGEST_FOR_SOCKETS: Final = 76
"""Bytes of a path to which `/pymp-12345678/listener-12345678` can be added: a socket's path has at most 107."""

_CONTAINER_LIMITS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""The files with a container's memory limit: of control groups version 2, and version 1."""


def memory_size() -> int:
    """The bytes of memory that this process may use: the machine's, or its container's limit if that is lower."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for limit in _CONTAINER_LIMITS:
        if limit.is_file() and (text := limit.read_text(encoding="ascii").strip()).isdigit():  # or "max"
            sizes.append(int(text))
    return min(sizes)


def check_process() -> None:
    """Refuses a process in which the libraries or file names do not work.

    Raises:
      DataError: the current folder was removed, the locale is not UTF-8, or Python drops docstrings.
    """
    try:
        os.getcwd()
    except FileNotFoundError:
        raise DataError("The current folder was removed; change to another one.") from None
    if (encoding := sys.getfilesystemencoding()) != "utf-8":
        raise DataError(
            "the locale's encoding must be UTF-8, because some libraries name files in UTF-8 and Python names them in "
            f"that encoding; got {encoding}. Set LC_ALL=C.UTF-8."
        )
    if sys.flags.optimize > 1:
        raise DataError("Python must keep docstrings, which TensorFlow reads; got -OO. Unset PYTHONOPTIMIZE.")


def check_machine() -> None:
    """Checks that a machine has what every pipeline needs: a temporary folder, and shared memory for locks.

    Raises:
      DataError: the folder is missing, or see `check_shared_memory`.
    """
    _temporary_folder()
    check_shared_memory()


def _temporary_folder() -> str:
    try:
        return tempfile.gettempdir()
    except FileNotFoundError as error:
        raise DataError(f"No usable temporary folder: {error.strerror}. Set TMPDIR to a writable folder.") from None


def check_shared_memory() -> None:
    """Checks that a machine has shared memory for locks, which Beam's sinks and pools of processes need.

    Raises:
      DataError: /dev/shm cannot be written, or is full.
    """
    try:
        _ = [multiprocessing.Lock() for _ in range(_LOCKS)]
    except (OSError, ImportError) as error:
        raise DataError(
            f"Cannot create locks in /dev/shm: {getattr(error, 'strerror', None) or error}. Mount it so that it can be "
            f"written, with free space for {_LOCKS} small files (in a container: --shm-size=64m)."
        ) from None


def check_temporary_folder_for_sockets() -> None:
    """Checks that the temporary folder's path is short enough for the sockets of an experiment's cells.

    Raises:
      DataError: the path of the temporary folder is too long.
    """
    folder = _temporary_folder()
    if (size := len(os.fsencode(folder))) > _LONGEST_FOR_SOCKETS:
        raise DataError(
            f"the path of the temporary folder must have at most {_LONGEST_FOR_SOCKETS} bytes, the limit for sockets; "
            f"got {size} in {folder}. Set TMPDIR to a shorter path."
        )


def check_temporary_folder_for_patterns() -> None:
    """Checks that Beam can find files in the temporary folder.

    Raises:
      DataError: the path of the temporary folder has characters of patterns.
    """
    if fault := pattern_fault(_temporary_folder(), "Beam"):
        raise DataError(f"the path of the temporary folder {fault}. Set TMPDIR to another folder.")
