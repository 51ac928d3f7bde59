"""Silences the libraries' logs and warnings, which no user can act on."""

import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

import absl.logging

_NATIVE: Final = re.compile(rb"[IWEF]\d{4} |WARNING: All log messages before absl::InitializeLog")
"""The start of a line from a C++ library's logger."""


def quieten(verbose: bool) -> None:
    """Silences the libraries in this process and in those that it starts; `verbose` shows their logs instead."""
    if verbose:
        logging.basicConfig(level=logging.INFO)
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of processes that this one starts
    warnings.simplefilter("ignore")
    # Libraries that are imported later, such as NumPy and Beam, show their own warnings all the same.
    warnings.showwarning = lambda *arguments, **keywords: None
    logging.getLogger().setLevel(logging.CRITICAL)
    for name in ("apache_beam", "tensorflow"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    absl.logging.set_verbosity(absl.logging.FATAL)  # absl sets its logger's level again when it is imported
    if "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, _TensorFlowFinder())


class _TensorFlowFinder(MetaPathFinder):
    """Finds TensorFlow, once, for an import without its native logs.

    TensorFlow 2.21 writes some before it looks at TF_CPP_MIN_LOG_LEVEL.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Finds the package as Python's own finder does."""
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name)
        if spec and spec.loader:
            spec.loader.exec_module = partial(_without_native_logs, spec.loader.exec_module)  # type: ignore[method-assign]
        return spec


def _without_native_logs(run: Callable[[ModuleType], None], module: ModuleType) -> None:
    """Runs a module's code; what it writes to stderr comes at its end, without the lines of native loggers."""
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), 2)
        try:
            run(module)
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            written.seek(0)
            for line in written:
                if not _NATIVE.match(line):
                    os.write(2, line)
