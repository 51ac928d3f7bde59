"""Queries and options that several commands take."""

import math
import sys
from collections.abc import Iterator
from typing import Final

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


def _number(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if math.isnan(value):  # which lies in any range, for click
        raise click.BadParameter("must be a number; got nan.")
    return value


feedback_option: Final = click.option(
    "--feedback",
    metavar="GAIN",
    default=0.0,
    type=click.FloatRange(0, 1e6),
    callback=_number,
    help="Rank in a second pass by how like documents are to the best two, too; 2 to 12 are usual, 0 is none.",
)
