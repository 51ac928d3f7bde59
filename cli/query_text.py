"""What a command takes for a query."""

import sys
from collections.abc import Iterator

import click

from schemas.errors import DataError


def check_query_text(option: str, text: str) -> None:
    """Refuses a text that is no query.

    Raises:
      click.UsageError: it is blank, or no UTF-8: Python reads such bytes of an argument as lone surrogates.
    """
    if not text.strip():
        raise click.UsageError(f"{option} must hold a word; got an empty text.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.UsageError(f"{option} must be UTF-8; got {text!r}.") from None


def lines_of_stdin() -> Iterator[str]:
    """The queries on stdin, one a line.

    Raises:
      DataError: a line is no UTF-8.
      click.UsageError: there is no line.
    """
    number = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            query = line.decode().strip()
        except UnicodeDecodeError:
            raise DataError(f"stdin:{number}: a query must be UTF-8; got {line[:80]!r}.") from None
        if query:
            yield query
    if number == 0:
        raise click.UsageError("there is no query; give one, or queries on stdin, one a line.")
