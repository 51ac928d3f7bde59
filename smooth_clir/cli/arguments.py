"""Arguments and options that several commands take."""

import math
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click

from models.translators.command import ALLOWED
from schemas.errors import DataError

model_argument: Final = click.argument("model", type=click.Path())
"""See `smooth_clir.cli.model_folder.find_model`."""

index_option: Final = click.option(
    "--index", metavar="INDEX", type=click.Path(),
    help="The index's folder, or its address in Milvus: milvus://host:port/name. Default: the run's.",
)  # fmt: skip
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
json_lines_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a query.")
overrides_option: Final = click.option(
    "--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Override a setting, such as training.epochs=3."
)


def _allow_commands(_context: click.Context, _parameter: click.Parameter, allows: bool) -> None:
    if allows:
        os.environ[ALLOWED] = "*"  # for the workers, too


allow_commands_option: Final = click.option(
    "--allow-commands", is_flag=True, expose_value=False, callback=_allow_commands,
    help="Start the programs that the configuration names (channels.lexicon.translator).",
)  # fmt: skip


columns_option: Final = click.option(
    "--columns", metavar="COLUMN=NAME", multiple=True,
    help="The name of a column (id, title, text, lang, query_id, doc_id, grade, query, document) in your files. "
    "Repeatable.",
)  # fmt: skip


def column_names(values: Sequence[str], faults: list[str]) -> dict[str, list[str]]:
    """Returns column to its names, of the values of --columns; adds the faults of their form."""
    names: dict[str, list[str]] = {}
    for value in values:
        column, _, name = value.partition("=")
        if name:
            names.setdefault(column, []).append(name)
        else:
            faults.append(f"--columns: must be COLUMN=NAME; got {value!r}.")
    return names


def number(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    """Refuses NaN, which click accepts in any range; a callback of click."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("must be a number; got nan.")
    return value


feedback_option: Final = click.option(
    "--feedback",
    "gain",
    metavar="GAIN",
    type=click.FloatRange(0, 1e6),
    callback=number,
    help="Weight of the second pass, which raises documents like the best ones; 0 for no second pass. "
    "Default: the model's own.",
)


def check_query_text(option: str, text: str) -> None:
    """Refuses a text that is not a query.

    Raises:
      click.UsageError: the text is blank, or not UTF-8: Python reads such bytes of an argument as lone surrogates.
    """
    if not text.strip():
        raise click.UsageError(f"{option} must hold a word; got an empty text.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.UsageError(f"{option} must be UTF-8; got {text!r}.") from None


def lines_of_stdin() -> Iterator[str]:
    """Yields the queries on stdin, a line each.

    Raises:
      DataError: a line is not UTF-8.
      click.UsageError: stdin is empty.
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
        raise click.UsageError("No query found. Give a query, or queries on stdin, a line each.")
