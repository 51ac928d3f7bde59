"""The identity of a stage besides its settings and inputs: a digest of its code, and a digest of libraries.

A change of either reruns the stage. Comments, docstrings and the layout of lines do not count as code, and the same
code has the same digest under each version of Python. Importing this file does not import TFX.
"""

import ast
import hashlib
import importlib.metadata
import json
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

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

IDENTITY_FORM: Final = re.compile("[0-9a-f]{64}-[0-9a-f]{64}")
"""Matches an identity within a text."""

_FUNCTIONS: Final = ("preprocessing_fn", "run_fn", "tuner_fn")
"""The execution properties that name a function of ours, which TFX's own executors call."""
_FILES: Final = ("schema_file",)
"""The execution properties that name a file of ours."""

_ROOT = Path(__file__).parent.parent
_ROOMS = ("schemas", "models", "smooth_clir.wikipedia", "smooth_clir.retrieval", "components")


def identity_of_stage(executor: str, properties: Mapping[str, Any]) -> str:
    """The identity of a node.

    It covers the project's modules behind the node, the project's files that it reads, and the versions of Python and
    the libraries. It does not cover input files, whose digests are in the node's properties, or the modules that a
    training's settings name, which its job identifies.

    Args:
      executor: module of the executor.
      properties: the execution properties.
    """
    functions = [properties[name] for name in _FUNCTIONS if properties.get(name)]
    modules = [executor, *(function.rpartition(".")[0] for function in functions)]
    return identity(modules, [properties[name] for name in _FILES if properties.get(name)])


def identity(modules: Iterable[str], files: Iterable[str] = ()) -> str:
    """Two digests, `CODE-LIBRARIES`: of files and modules with the project's modules that they import, and of versions.

    Args:
      modules: dotted names; a module of a library stands for the library.
      files: paths of local files.
    """
    code = "\n".join([code_digest(*modules), *(sha256_of_file(path) for path in files)])
    return _with_libraries(code)


def code_of(*identities: str) -> str:
    """Returns a digest of the code of identities, without their libraries.

    Example:
      >>> code_of("c1-l1", "c2-l1") == code_of("c1-l2", "c2-l2") != code_of("c1-l1", "c3-l1")
      True
    """
    return _sha256("\n".join(code_and_libraries.partition("-")[0] for code_and_libraries in identities))


def identity_of_all_stages() -> str:
    """Two digests, as `identity`: of all code and the schema behind any stage, and of the versions."""
    paths = sorted(path for room in _ROOMS for end in ("*.py", "*.pbtxt") for path in _path(room).parent.rglob(end))
    content = [(path.read_bytes(), path.suffix == ".py") for path in paths]
    digests = [_parsed(text).digest if is_code else hashlib.sha256(text).hexdigest() for text, is_code in content]
    names = [str(path.relative_to(_ROOT)) for path in paths]
    return _with_libraries("\n".join(map("\0".join, zip(names, digests, strict=True))))


def _with_libraries(code: str) -> str:
    return f"{_sha256(code)}-{_sha256(json.dumps(library_versions()))}"


def library_versions() -> dict[str, str]:
    """The versions of Python and of the libraries that compute, by their names."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def commit() -> str | None:
    """The commit of this project's checkout; None outside a checkout of Git, or if code has changed since the
    commit."""
    git = ("git", "-C", str(_ROOT))
    folders = [room.replace(".", "/") for room in (*_ROOMS, "pipeline", "smooth_clir.experiments")]
    try:
        changes = subprocess.run([*git, "status", "--porcelain", "--", *folders], capture_output=True, check=True)
        head = subprocess.run([*git, "rev-parse", "--show-prefix", "HEAD"], capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    prefix, head_commit = head.stdout.split("\n")[:2]
    # Below the top of a checkout, the commit is that of a project in which this project is installed.
    return None if changes.stdout or prefix else head_commit


def code_digest(*modules: str) -> str:
    """SHA-256 in hexadecimal of modules and every module of the project that they import, directly or not.

    Args:
      *modules: dotted names, such as `components.evaluator`; modules of libraries are ignored.
    """
    if _known_digests is not None and modules in _known_digests:
        return _known_digests[modules]
    ours = filter(_is_ours, modules)
    digest = _sha256("\n".join(f"{name} {_parsed(_path(name).read_bytes()).digest}" for name in sorted(_closure(ours))))
    if _known_digests is not None:
        _known_digests[modules] = digest
    return digest


_known_digests: dict[tuple[str, ...], str] | None = None
"""The digests of modules within `code_read_once`; else None."""


@contextmanager
def code_read_once() -> Iterator[None]:
    """Computes each digest once within the context: a thousand configurations take seconds instead of minutes."""
    global _known_digests
    _known_digests = {}
    try:
        yield
    finally:
        _known_digests = None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _closure(modules: Iterable[str]) -> set[str]:
    """Modules and the project's modules that they import, directly or not."""
    closure: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in closure:
            closure.add(name)
            waiting += (named for named in _parsed(_path(name).read_bytes()).names if _path(named).exists())
    return closure


class _Parsed(NamedTuple):
    """A parsed module."""

    digest: str
    """SHA-256 of its statements."""
    names: tuple[str, ...]
    """The names of the project that it may import; `from a import b` names a and a.b, modules or not."""


@lru_cache(maxsize=1024)
def _parsed(text: bytes) -> _Parsed:
    """Parses a module; cached, because stages share most of their files, and parsing takes most of a digest's time."""
    tree = ast.parse(text)
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return _Parsed(_sha256(_plain(tree)), tuple(filter(_is_ours, names)))


def _plain(node: object) -> str:
    """A syntax tree as text, without positions and without docstrings, which are strings that no statement uses.

    Unlike `ast.dump`, it leaves out empty fields, because newer versions of Python add more of them, and writes strings
    in ASCII, because the printable characters depend on the version, too.
    """
    if isinstance(node, ast.AST):
        fields = (f"{name}={_plain(value)}" for name, value in ast.iter_fields(node) if value not in (None, []))
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(_plain(item) for item in node if not _is_docstring(item))}]"
    return ascii(node)


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_ours(module: str) -> bool:
    return any(f"{module}.".startswith(f"{room}.") for room in _ROOMS)


def _path(module: str) -> Path:
    path = _ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
