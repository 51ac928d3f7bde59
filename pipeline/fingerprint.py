"""A digest of the code behind a stage, so that a change of it, and of nothing else, runs the stage anew."""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_FOLDERS = ("schemas", "wikipedia", "models", "components")


def code_digest(*modules: str) -> str:
    """SHA-256 over modules and every module of the project that they import, directly or not.

    Args:
      *modules: dotted names, such as `components.evaluator.executor`; those of libraries count for nothing.

    Returns:
      the digest, in hexadecimal.
    """
    digest = hashlib.sha256()
    ours = (name for name in modules if name.split(".")[0] in _FOLDERS)
    for name in sorted(_closure(ours)):
        digest.update(name.encode() + b"\0" + _path(name).read_bytes())
    return digest.hexdigest()


def rooms_digest() -> str:
    """SHA-256 over all code and the schema behind any stage."""
    digest = hashlib.sha256()
    for path in sorted(
        path for folder in _FOLDERS for pattern in ("*.py", "*.pbtxt") for path in (_ROOT / folder).rglob(pattern)
    ):
        digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _closure(modules: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_imports(_path(name)))
    return found


def _imports(path: Path) -> Iterator[str]:
    """The project's modules that a file imports."""
    return (name for name in _named(path.read_bytes()) if _path(name).exists())


@lru_cache(maxsize=1024)
def _named(code: bytes) -> tuple[str, ...]:
    """What of the project some code may import; `from a import b` names a and a.b, whichever of them are modules.

    It is kept because a pipeline's stages share most of their files, and parsing these takes most of a digest's time.
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
