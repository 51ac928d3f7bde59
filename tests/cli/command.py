"""`clir` in this process: quick, where the imports of a new one are not the point."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest

from pipeline import quiet
from smooth_clir.cli.main import main


class Answer(NamedTuple):
    """The result of a command."""

    code: object
    out: str
    err: str


class Terminal(io.StringIO):
    """A stdin or stdout that is a terminal."""

    def isatty(self) -> bool:
        return True


class Clir:
    """Runs `clir` commands, with the libraries' logs as they are."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(quiet, "quieten", lambda verbose: None)

    def __call__(self, *arguments: object, stdin: str | bytes | Terminal = "", on_terminal: bool = False) -> Answer:
        """Runs one command to its end, whose stdin or stdout may be a terminal."""
        self._monkeypatch.setattr(sys, "argv", ["clir", *map(str, arguments)])
        if not isinstance(stdin, Terminal):
            content = stdin.encode() if isinstance(stdin, str) else stdin
            stdin = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")  # type: ignore[assignment]
        self._monkeypatch.setattr(sys, "stdin", stdin)
        code: object = 0
        with (
            redirect_stdout(Terminal() if on_terminal else io.StringIO()) as out,
            redirect_stderr(io.StringIO()) as err,
        ):
            try:
                main()
            except SystemExit as end:
                code = end.code
        return Answer(code, out.getvalue(), err.getvalue())
