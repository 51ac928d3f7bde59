"""The identity of a stage besides its settings and inputs: a digest of its code, and of the libraries that compute.

A change of any of them reruns the stage, and a change of anything else does not. Importing this file does not import
TFX.
"""

import ast
import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from models.keras_2 import KERAS_2
from pipeline.input_files import sha256_of_file

LIBRARIES: Final = (
    "apache-beam", "faiss-cpu", KERAS_2, "keras-tuner", "matplotlib", "numpy",
    "scikit-learn", "scipy", "tensorflow", "tensorflow-data-validation", "tensorflow-ranking", "tensorflow-text",
    "tensorflow-transform", "tfx", "tfx-bsl",
)  # fmt: skip
"""The libraries that compute: another version may give other numbers."""

version = cache(importlib.metadata.version)
"""Returns a library's version; cached, because every stage asks for it."""

_FUNCTIONS: Final = ("preprocessing_fn", "run_fn", "tuner_fn")
"""The execution properties that name a function of ours, which TFX's own executors call."""
_FILES: Final = ("schema_file",)
"""The execution properties that name a file of ours."""

_ROOT = Path(__file__).parent.parent
_FOLDERS = ("schemas", "wikipedia", "models", "components")


def identity_of_stage(executor: str, properties: Mapping[str, Any]) -> str:
    """The identity of a node.

    It covers the project's modules behind the node, the project's files that it reads, and the versions of Python and
    the libraries. Input files stand in the node's properties, by their digests, and the modules behind the names in a
    training's settings in its job.

    Args:
      executor: module of the executor.
      properties: the execution properties.
    """
    functions = [properties[name] for name in _FUNCTIONS if properties.get(name)]
    modules = [executor, *(function.rpartition(".")[0] for function in functions)]
    return identity(modules, [properties[name] for name in _FILES if properties.get(name)])


def identity(modules: Iterable[str], files: Iterable[str] = ()) -> str:
    """SHA-256 of modules with all modules of the project that they import, of files, and of the versions.

    Args:
      modules: dotted names; a module of a library stands for the library.
      files: paths of local files.
    """
    return _digest_of([code_digest(*modules), *(sha256_of_file(path) for path in files)])


def identity_of_all_stages() -> str:
    """SHA-256 of all code and the schema behind any stage, and of the versions."""
    digest = hashlib.sha256()
    for path in sorted(
        path for folder in _FOLDERS for pattern in ("*.py", "*.pbtxt") for path in (_ROOT / folder).rglob(pattern)
    ):
        digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    return _digest_of([digest.hexdigest()])


def _digest_of(parts: Iterable[str]) -> str:
    """SHA-256 of digests, and of the versions of Python and the libraries that compute."""
    versions = [platform.python_version(), *(f"{name} {version(name)}" for name in LIBRARIES)]
    return hashlib.sha256("\n".join([*parts, *versions]).encode()).hexdigest()


def code_digest(*modules: str) -> str:
    """SHA-256 in hexadecimal of modules and every module of the project that they import, directly or not.

    Args:
      *modules: dotted names, such as `components.evaluator.component`; modules of libraries count for nothing.
    """
    digest = hashlib.sha256()
    ours = (name for name in modules if name.split(".")[0] in _FOLDERS)
    for name in sorted(_closure(ours)):
        digest.update(name.encode() + b"\0" + _path(name).read_bytes())
    return digest.hexdigest()


def _closure(modules: Iterable[str]) -> set[str]:
    """Modules and the project's modules that they import, directly or not."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += (one for one in _named(_path(name).read_bytes()) if _path(one).exists())
    return found


@lru_cache(maxsize=1024)
def _named(code: bytes) -> tuple[str, ...]:
    """The names of the project that some code may import; `from a import b` names a and a.b, modules or not.

    Cached, because the stages of a pipeline share most of their files, and parsing takes most of a digest's time.
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return tuple(name for name in names if name.split(".")[0] in _FOLDERS)


def _path(module: str) -> Path:
    path = _ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
