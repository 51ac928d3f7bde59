"""Silences the libraries' logs and warnings, which no user can act on."""

import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final, TypeAlias

import absl.logging

Execute: TypeAlias = Callable[[ModuleType], None]
_NATIVE: Final = re.compile(rb"[IWEF]\d{4} |WARNING: All log messages before absl::InitializeLog")
"""The start of a line from a C++ library's logger."""


def quieten(verbose: bool) -> None:
    """Silences the libraries in this process and in those that it starts; `verbose` shows their logs instead."""
    if verbose:
        logging.basicConfig(level=logging.INFO)
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")  # for processes that this process starts
    warnings.simplefilter("ignore")
    # Libraries that are imported later, such as NumPy and Beam, show their own warnings all the same.
    warnings.showwarning = lambda *arguments, **keywords: None
    for name in (None, "apache_beam", "tensorflow"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    absl.logging.set_verbosity(absl.logging.FATAL)  # absl sets its logger's level again when it is imported
    if "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, ChangedImports({"tensorflow": _without_native_logs}))


@contextmanager
def quiet_at_most_here() -> Iterator[None]:
    """Gives a program that is not ours its warnings and its root logger's level back at the end of the block."""
    root = logging.getLogger()
    level, child_warnings = root.level, os.environ.get("PYTHONWARNINGS")
    try:
        with warnings.catch_warnings():
            yield
    finally:
        root.setLevel(level)
        if child_warnings is None:
            os.environ.pop("PYTHONWARNINGS", None)


class ChangedImports(MetaPathFinder):
    """Finds packages as Python does, and changes how some packages are executed.

    Args:
      changes: package name to a function that executes the package; called with (the loader's own function, module).
    """

    def __init__(self, changes: Mapping[str, Callable[[Execute, ModuleType], None]]) -> None:
        self._changes = changes

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Finds a package, if its import is changed."""
        change = self._changes.get(name)
        spec = PathFinder.find_spec(name, path) if change else None  # type: ignore[arg-type]
        if change and spec and spec.loader:
            spec.loader.exec_module = partial(change, spec.loader.exec_module)  # type: ignore[method-assign]
        return spec


def _without_native_logs(execute: Execute, module: ModuleType) -> None:
    """Executes a module's code, and then writes its lines to stderr without those of native loggers.

    TensorFlow 2.21 writes such lines before it reads TF_CPP_MIN_LOG_LEVEL; 2.15 does not. Remove this function when a
    later version is quiet again.
    """
    with tempfile.TemporaryFile() as written, os.fdopen(os.dup(2), "wb") as stderr:
        sys.stderr.flush()
        os.dup2(written.fileno(), 2)
        try:
            execute(module)
        finally:
            sys.stderr.flush()
            os.dup2(stderr.fileno(), 2)
            written.seek(0)
            stderr.writelines(line for line in written if not _NATIVE.match(line))
