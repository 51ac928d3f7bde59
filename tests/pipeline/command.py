"""`clir` in this process: quick, where the imports of a new one are not the point."""

import io
import sys
from typing import NamedTuple

import pytest

from pipeline import progress
from pipeline.cli import main


class Answer(NamedTuple):
    """What a command left."""

    code: object
    out: str
    err: str


class Clir:
    """Runs `clir` commands, with the libraries' logs as they are."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.setattr(progress, "quieten", lambda verbose: None)

    def __call__(self, *arguments: object, stdin: str | bytes = "") -> Answer:
        """Runs one command to its end."""
        self._monkeypatch.setattr(sys, "argv", ["clir", *map(str, arguments)])
        content = stdin.encode() if isinstance(stdin, str) else stdin
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        return Answer(code, *self._capsys.readouterr())
