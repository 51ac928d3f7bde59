"""The answers of a person who begins: of options and of questions, each checked when it is given."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import Final

import click

from pipeline.conversion.inputs import MAX_BAD_SHARE
from pipeline.input_faults import check_collection
from pipeline.input_files import file_fault, files_of, is_remote
from schemas.columns import HeaderError, column_name, header_order, own_columns
from schemas.drops import Drop, DropCounter, bad_input
from schemas.errors import ConfigError, DataError
from schemas.forms import named_rows
from schemas.languages import codes_of, joined_codes, language_fault
from schemas.record_files import parse_role
from schemas.relevance import MAX_GRADE
from schemas.wording import printable
from smooth_clir.cli.arguments import column_names
from smooth_clir.cli.terminal import FIELD, for_shell, program, say, short

_LINES: Final = 500
"""Number of lines of a file that are looked at when it is named."""
_ROWS: Final = 20
"""Number of lines of a file by which its header is recognised."""
_NONE: Final = "-"
"""The answer that a file lacks a column."""

FILES: Final = ("queries", "documents", "judgments")
"""The questions whose answers are files: the roles of a collection."""

_QUESTIONS: Final = {
    "queries": "File of the queries (id, title, text)",
    "documents": "File of the documents (id, title, text)",
    "judgments": "File of the judgments (query_id, doc_id, grade)",
    "query_language": "Language of the queries, such as en",
    "document_language": "Language of the documents",
}


class Answers:
    """Takes options, and asks for what they leave open.

    Args:
      config, columns, output: as on the command line.

    Attributes:
      columns: column to its names in the files, beside the usual ones.
    """

    def __init__(self, config: str, columns: Sequence[str], output: str | None) -> None:
        self._faults: list[str] = []
        self.columns = column_names(columns, self._faults)
        self._config, self._output = config, output
        self._answers: dict[str, str] = {}
        self._is_asked = False

    def take(self, options: Mapping[str, str | None]) -> dict[str, str]:
        """Returns the answer to each question, with paths relative to the current folder.

        Raises:
          ConfigError: options are wrong, or missing where stdin is no terminal: all of them.
        """
        for name, value in options.items():
            option = f"--{name.replace('_', '-')}"
            if value is None and not sys.stdin.isatty():
                self._faults.append(f"{option} is missing, and stdin is no terminal; or give --example.")
            elif value is not None:
                try:
                    self._answers[name] = self._checked(name, value)
                except click.BadParameter as error:
                    self._faults.append(f"{option}: {error.message}")
        if self._faults:
            raise ConfigError(self._faults)
        for name in options:
            if name not in self._answers:
                self._answers[name] = self._ask(_QUESTIONS[name], partial(self._checked, name))
        return dict(self._answers)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """On an error or Ctrl-C, shows the command with all answers, so that none is typed twice."""
        try:
            yield
        except (KeyboardInterrupt, ConfigError, DataError, click.UsageError):
            if self._is_asked and self._answers:
                options = [(f"--{name.replace('_', '-')}", value) for name, value in self._answers.items()]
                options += [
                    ("--columns", f"{column}={name}") for column, names in self.columns.items() for name in names
                ]
                options += [("--output", self._output)] if self._output else []
                words = chain(*options)
                say(f"\nto go on with these answers:\n  {program()} init {for_shell(self._config)} {shlex.join(words)}")
            raise

    def _ask(self, question: str, check: Callable[[str], str], default: str | None = None) -> str:
        """Asks a question until the answer is valid."""
        self._is_asked = True
        try:
            answer: str = click.prompt(question, default=default, value_proc=check, err=True)
        except click.Abort:  # Ctrl-C or Ctrl-D
            raise KeyboardInterrupt from None
        return answer

    def _checked(self, name: str, answer: str) -> str:
        """Returns a valid answer; raises click.BadParameter for another."""
        return self._check_file(name, answer) if name in FILES else _check_language(answer)

    def _check_file(self, role: str, answer: str) -> str:
        """Returns the path of a file, or a pattern of files, whose first lines a run can read; tells its bad lines.

        `~` is the home folder, as in a configuration. Asks at a terminal for columns with other names.
        """
        path = os.path.expanduser(answer)
        if is_remote(path):
            return path
        if not all(os.path.isfile(file) for file in files_of(path) or [path]):
            raise click.BadParameter(f"must be a file, or a pattern of files; {answer!r} does not exist.")
        file = files_of(path)[0]
        if fault := file_fault(file):
            raise click.BadParameter(fault)
        before = {column: [*names] for column, names in self.columns.items()}
        if rows := self._rows_of_other_columns(role, file):
            if sys.stdin.isatty():
                self._ask_columns(role, file, rows)
            else:
                names = printable(", ".join(rows[0]), FIELD)
                say(f"warning: {short(file)} seems to have a header of other names: {names}; name them by --columns")
        for _, head_fault in check_collection({role: path}, self.columns):
            self.columns = before
            raise click.BadParameter(head_fault)
        with open(file, "rb") as stream:
            records = parse_role(role, stream, file, MAX_GRADE, set(), own_columns(role, self.columns))
            first = [*islice(records, _LINES)]
        drops = DropCounter()
        for record in first:
            if isinstance(record, Drop):
                drops.add(record)
        limit = f"a run leaves out a share of up to {MAX_BAD_SHARE:g} (data.max_bad_share)"
        for line in bad_input(file, len(first), drops.drops(), 0, "first lines", limit):
            say(line)
        return path

    def _rows_of_other_columns(self, role: str, file: str) -> list[dict[str, str]]:
        """Returns the first rows of a file whose columns have other names than the known ones, else none."""
        with open(file, "rb") as stream:
            rows = named_rows(stream, file, _ROWS)
        try:
            is_known = header_order(own_columns(role, self.columns), [*chain(*rows)]) is not None
        except HeaderError:
            is_known = False
        return [] if is_known else rows

    def _ask_columns(self, role: str, file: str, rows: Sequence[Mapping[str, str]]) -> None:
        """Shows the first rows of a file, and asks which column is what."""
        names = [*dict.fromkeys(name for name in chain(*rows) if name.isprintable())]
        say(f"The columns of {short(file)} have other names than the usual ones. Its first rows:")
        line_width = shutil.get_terminal_size().columns - 1
        width = max(line_width // max(len(names), 1) - 3, 5)
        for fields in [names, *([row.get(name, "") for name in names] for row in rows[:3])]:
            cells = (f"{printable(field, width - 1):{width}}" for field in fields)
            say(f"  {' | '.join(cells)}"[:line_width].rstrip())
        answers: dict[str, str] = {}
        columns = own_columns(role, self.columns)
        for number, (column, known) in enumerate(columns.names.items()):
            absence = "the first row is no header" if number == 0 else "none"
            may_lack = number == 0 or column in columns.optional
            guess = _guess(known, [name for name in names if name not in answers.values()])
            answers[column] = self._ask(
                f"Column of the {column}{f' ({_NONE}: {absence})' if may_lack else ''}",
                partial(_check_choice, [*names, _NONE] if may_lack else names),
                guess or (_NONE if may_lack and number else None),
            )
            if answers[column] == _NONE and number == 0:
                return
        for column, name in answers.items():
            if name != _NONE and name not in self.columns.get(column, ()):
                self.columns.setdefault(column, []).insert(0, name)


def _guess(known: Sequence[str], names: Sequence[str]) -> str | None:
    """Returns the first name that is a known name of a column, or has such a word in it.

    Example:
      >>> _guess(("id", "doc_id"), ["title", "Page-ID"])
      'Page-ID'
    """
    spelled = {name: column_name(name) for name in names}
    exact = (name for name in names if spelled[name] in known)
    return next(chain(exact, (name for name in names if not {*known}.isdisjoint(spelled[name].split("_")))), None)


def _check_choice(choices: Sequence[str], answer: str) -> str:
    if answer not in choices:
        raise click.BadParameter(f"must be one of {', '.join(choices)}; got {answer!r}")
    return answer


def _check_language(answer: str) -> str:
    """Returns the code of a known language, or the joined ones of several."""
    if fault := language_fault(answer):
        raise click.BadParameter(fault)
    return joined_codes(codes_of(answer))
