"""Refuses variables and parameters whose names do not say what they hold: `one`, and names such as `of_query`.

.venv/bin/python -m tools.names
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_NAMELESS: Final = re.compile(r"_?(one|ones|of_\w+)")
_WRITTEN: Final = {"of_run", "of_wikitext"}
"""Fields of files that indexes and collections of users have."""


def nameless(code: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the name of each variable, parameter, function and class with such a name.

    Example:
      >>> [*nameless("for one in channels:\\n    of_channel = one.scores")]
      [(1, 'one'), (2, 'of_channel')]
    """
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                pass
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                pass
            case _:
                continue
        if _NAMELESS.fullmatch(name) and name not in _WRITTEN:
            yield node.lineno, name


def main() -> None:
    """Prints each such name of the repository, and exits 1 if there is one."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {name!r} must say what it holds, as `channel` in `for channel in channels`."
        for path in paths
        for line, name in nameless(path.read_text(encoding="utf-8"))
    ]
    sys.exit("\n".join(faults) or None)


if __name__ == "__main__":
    main()
