"""A digest of the code behind a stage, so that a change of it, and of nothing else, runs the stage anew."""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_FOLDERS = ("schemas", "models", "components")


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
    """The project's modules that a file imports; `from a import b` names a.b where that is a module."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] in _FOLDERS and _path(name).exists())


def _path(module: str) -> Path:
    path = _ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
