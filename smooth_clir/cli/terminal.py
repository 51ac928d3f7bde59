"""Prints results to stdout and all else to stderr, without control sequences or endless lines."""

import json
import logging
import os
import re
import shlex
import shutil
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import click

from pipeline.stages import StageEnd
from schemas.wording import printable

FIELD: Final = 120
"""Largest number of characters shown of a text from the user's files, such as a title or an id."""
_LINE: Final = 4000
_SECONDS_BETWEEN_LINES: Final = 10.0


def say(text: str) -> None:
    """Prints lines for a person on stderr."""
    for line in text.split("\n"):
        click.echo(printable(line, _LINE), err=True)


def show(text: str) -> None:
    """Prints a result for a person on stdout."""
    for line in text.split("\n"):
        click.echo(printable(line, _LINE))


def show_json(result: Any, indent: int | None = 2) -> None:
    """Prints a result for machines on stdout, as JSON; escapes every character that cannot be printed."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(result, indent=indent, ensure_ascii=not is_unicode)
    escaped = re.sub(
        r"[^\n -~]", lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text
    )
    click.echo(escaped)


def short(path: str) -> str:
    """Returns a path, relative to the current folder if it is below that."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def for_shell(path: str) -> str:
    """Returns a path as an argument of a command that a person may paste into a shell.

    Example:
      >>> for_shell("my runs/sample"), for_shell("-o")
      ("'my runs/sample'", './-o')
    """
    shown = short(path)
    return shlex.quote(f"./{shown}" if shown.startswith("-") else shown)


def program(name: str = "clir") -> str:
    """Returns a program as a person may paste it into the shell that called `clir` or Python.

    Returns the plain name if the shell finds the program by it, otherwise its path beside `clir` or Python.

    Args:
      name: `clir`, or another program of its environment.
    """
    called, python = Path(sys.argv[0]), Path(sys.executable)
    if name == "clir" and called.name == "__main__.py" and called.parent.name == "smooth_clir":
        return f"{for_shell(sys.executable)} -m smooth_clir"
    programs = (called, python) if called.name == "clir" else (python,)
    path = next((path for path in (program.with_name(name) for program in programs) if path.is_file()), None)
    known = shutil.which(name)
    return name if path is None or known and os.path.samefile(known, path) else for_shell(str(path))


class StageView(logging.Handler):
    """Shows stages as they start and end, and the messages of the project's own loggers.

    A terminal shows the progress within a stage in its last line; elsewhere it is printed every ten seconds.
    """

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console  # slow to import, and most commands show no stages

        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._status = self._console.status("")
        self._stage = ""
        self._last_line = 0.0
        self._before = logging.NOTSET, True

    def __enter__(self) -> "StageView":
        logger = logging.getLogger("clir")
        self._before = logger.level, logger.propagate
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()
        logger = logging.getLogger("clir")
        logger.removeHandler(self)
        level, logger.propagate = self._before
        logger.setLevel(level)
        if kind is not None:
            self.say(f"{self._stage}: failed")

    def start(self, number: int, total: int, name: str) -> None:
        """Shows that a stage starts."""
        self._stage = f"[{number:{len(str(total))}}/{total}] {name}" if total else name
        self._last_line = time.monotonic()
        self._status.update(self._stage)

    def end(self, stage: StageEnd) -> None:
        self.say(stage.describe())

    def say(self, line: str) -> None:
        self._console.print(printable(line, _LINE), markup=False)

    def emit(self, record: logging.LogRecord) -> None:
        """Shows a message of the project's loggers; a message of `clir.progress` only in the last line."""
        if record.name != "clir.progress":
            self.say(f"      {record.getMessage()}")
            return
        line = printable(f"{self._stage}: {record.getMessage()}", _LINE)
        self._status.update(line)
        if not self._console.is_terminal and time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.say(line)
