"""What reaches a terminal: results on stdout, the rest on stderr; no control sequence, no endless line."""

import json
import os
import re
from typing import Any, Final

import click

from schemas.printable import printable

_LINE: Final = 4000
FIELD: Final = 120
"""The most characters of a title, an id, or another text of the user's files."""


def say(text: str) -> None:
    """Lines for a person, on stderr."""
    for line in text.split("\n"):
        click.echo(printable(line, _LINE), err=True)


def show(text: str) -> None:
    """A result for a person, on stdout."""
    for line in text.split("\n"):
        click.echo(printable(line, _LINE))


def show_json(result: Any, indent: int | None = 2) -> None:
    """A result for machines, on stdout: JSON in which every character that cannot be printed is escaped."""
    text = json.dumps(result, indent=indent, ensure_ascii=False)
    click.echo(re.sub(r"[^\n -~]", lambda match: match[0] if match[0].isprintable() else _escaped(match[0]), text))


def short(path: str) -> str:
    """A path relative to the current folder, where it lies in it."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]
