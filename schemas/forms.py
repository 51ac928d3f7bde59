"""The forms of files that a user may bring: queries, documents, judgments, candidates, domains and run files.

Plain, gzipped or bzipped:

    TSV           id <TAB> title <TAB> text           our own form (`schemas.wikiclir`), or other columns
    CSV           the same with commas or semicolons, and quotes
    white space   query_id 0 doc_id grade             TREC's qrels and run files
    JSON lines    {"_id": "d1", "title": "...", "text": "..."}
    JSON          an array of such objects

The first lines show the form. A header orders the columns by their names (`schemas.columns`); the keys of JSON objects
are such names. In CSV, and in TSV whose first lines show it, a field may stand in quotes and then hold line ends.
"""

import csv
import json
import math
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias, cast

from schemas.byte_streams import unpacked
from schemas.columns import COLUMNS, Columns, HeaderError, Order, column_name, header_order, is_header
from schemas.drops import Drop
from schemas.json_files import parse_json, read_json
from schemas.wikiclir import MAX_LINE_BYTES, Reason, decode_lines, excerpt_of, number_lines

_HEAD_LINES: Final = 100
_HEAD_BYTES: Final = 1 << 20
"""The form is decided by the first lines together, so that a bad first line costs only its own record."""
_MAX_HEADER: Final = 1000
_MAX_QUOTED_LINES: Final = 10_000
"""Largest number of lines of a quoted record."""

Row: TypeAlias = tuple[int, Sequence[str], str]
"""A line's number, its fields in the order of the role's columns, and the line itself for messages."""
_Line: TypeAlias = tuple[int, str] | Drop


class _Form(NamedTuple):
    """The form of a file's lines."""

    separator: str | None = "\t"
    """None stands for any white space."""
    width: int = 0
    """The number of fields; 0 allows any."""
    order: Order = ()
    is_json: bool = False
    is_quoted: bool = False
    has_header: bool = False


def read_rows(role: str, stream: BinaryIO, file: str, columns: Columns | None = None) -> Iterator[Row | Drop]:
    """Yields the fields of each line in the order of the role's columns.

    Args:
      role: a key of `COLUMNS`.
      stream: the file's bytes.
      file: the file's name, for the drops.
      columns: the role's columns with names of their own, see `own_columns`.
    """
    columns = columns or COLUMNS[role]
    with unpacked(stream) as content:
        try:
            start = cast(Any, content).peek(64)
        except (OSError, EOFError, zlib.error) as error:
            yield Drop(Reason.UNREADABLE, file, 1, str(error))
            return
        if re.match(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:\{|\Z)", start):
            yield from _array_rows(columns, content, file)
            return
        lines = number_lines(content, file)
        head = [*_head(lines)]
        every_line = decode_lines(chain(head, lines), file)
        try:
            form = _form(
                columns, [item[1].lstrip("\ufeff") for item in decode_lines(head, file) if not isinstance(item, Drop)]
            )
        except HeaderError as expected:
            header = next(item for item in every_line if not isinstance(item, Drop))
            excerpt = f"{excerpt_of(header[1])}; expected the names {expected}"
            yield Drop(Reason.BAD_HEADER, file, header[0], excerpt)
            return
        if form.is_json:
            yield from _object_rows(columns, every_line, file)
        else:
            yield from _field_rows(every_line, file, form, is_stripped=role not in ("queries", "documents"))


def named_rows(stream: BinaryIO, file: str, limit: int) -> list[dict[str, str]]:
    """Returns the first rows of a file by the names of their columns, whatever these are.

    Args:
      stream: the file's bytes.
      file: the file's name.
      limit: the number of lines to read.

    Returns:
      rows whose names are the keys of JSON objects or the fields of a header: a first line of several single words
      without digits, unlike all following lines. Empty if the file has neither, or cannot be read.

    Example:
      >>> import io
      >>> named_rows(io.BytesIO(b"nr,frage\\n7,Was ist Lava?\\n"), "q.csv", limit=3)
      [{'nr': '7', 'frage': 'Was ist Lava?'}]
      >>> named_rows(io.BytesIO(b"7,Was ist Lava?\\n8,Was ist Eis?\\n"), "q.csv", limit=3)
      []
    """
    with unpacked(stream) as content:
        lines = [
            item[1].lstrip("\ufeff")
            for item in decode_lines(islice(number_lines(content, file), limit), file)
            if not isinstance(item, Drop)
        ]
    objects = [entry for line in lines if isinstance(entry := _json(line), dict)]
    if objects or len(lines) < 2:
        return [{str(name): str(value) for name, value in entry.items()} for entry in objects]
    tables = [
        [_split(line, separator, _is_quoted(lines, separator)) for line in lines] for separator in ("\t", ",", ";")
    ]
    header, *rows = max(tables, key=lambda table: min(map(len, table)))
    if len(header) < 2 or not is_header(header) or any(map(is_header, rows)) or re.search(r"\d", "".join(header)):
        return []
    return [dict(zip(header, row, strict=False)) for row in rows]


def _json(line: str) -> Any:
    try:
        return parse_json(line)
    except ValueError:
        return None


def _head(lines: Iterable[tuple[int, bytes] | Drop]) -> Iterator[tuple[int, bytes] | Drop]:
    """The first lines."""
    size = 0
    for number, item in enumerate(lines, 1):
        yield item
        size += 0 if isinstance(item, Drop) else len(item[1])
        if number == _HEAD_LINES or size > _HEAD_BYTES:
            return


_OBJECT: Final = re.compile(r'\s*\{\s*["}]')
"""The beginning of a JSON object; an id may be a brace."""


def _form(columns: Columns, lines: Sequence[str]) -> _Form:
    """Returns the form of the majority of the first lines; raises a HeaderError for a header that lacks a column."""
    first = lines[0] if lines else ""
    if _OBJECT.match(first) or 2 * sum(map(bool, map(_OBJECT.match, lines))) > len(lines):
        return _Form(is_json=True)
    separators = ("\t", None, ",", ";") if columns.white_space else ("\t", ",", ";")
    quotes = {separator: _is_quoted(lines, separator) for separator in separators}
    for separator, is_quoted in quotes.items():
        header = _split(first[:_MAX_HEADER], separator, is_quoted)
        if (order := header_order(columns, header)) is not None:
            return _Form(separator, len(header), order, is_quoted=is_quoted, has_header=True)
    if columns.further and lines:
        raise HeaderError(columns)
    layouts = Counter(
        (separator, len(fields))
        for line in lines
        for separator, is_quoted in quotes.items()
        for fields in [_split(line, separator, is_quoted)]
        # A plain text may hold commas without being CSV.
        if len(fields) in columns.orders and (separator not in (",", ";") or is_id(fields[0]))
    )
    separator, width = max(layouts, key=lambda layout: layouts[layout], default=("\t", max(columns.orders)))
    if separator in (",", ";") and 2 * layouts[separator, width] <= len(lines):
        separator = "\t"
    return _Form(separator, width, columns.orders[width], is_quoted=quotes[separator])


def _split(line: str, separator: str | None, is_quoted: bool) -> list[str]:
    """Splits a line that is a whole record into fields; returns no fields where its quotes are wrong."""
    if not is_quoted or '"' not in line:
        return line.split(separator)
    try:
        return next(_csv_reader([line], separator))
    except csv.Error:
        return []


def _csv_reader(lines: Iterable[str], separator: str | None) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_LINE_BYTES)  # for the whole process; the default is 128 KiB
    return csv.reader(lines, delimiter=separator or "\t", strict=True)


_QUOTED: Final = re.compile(r'"(?:[^"]|"")*"')
_OPEN: Final = re.compile(r'"(?:[^"]|"")*')


def _is_quoted(lines: Sequence[str], separator: str | None) -> bool:
    """Whether fields may stand in quotes, as a spreadsheet or `csv.writer` writes them.

    In WikiCLIR quotes are plain text. In tab-separated lines they are syntax if they enclose every field of the first
    line, or if a quoted field holds doubled quotes and no field that begins with a quote has single quotes within.
    """
    if separator != "\t":
        return separator is not None
    first = lines[0] if lines else ""
    fields = [field for line in lines for field in line.split("\t") if field.startswith('"')]
    if all(map(_QUOTED.fullmatch, first.split("\t"))):
        return True
    if not all(_QUOTED.fullmatch(field) or _OPEN.fullmatch(field) for field in fields):
        return False
    return any('""' in field[1:-1] and _QUOTED.fullmatch(field) for field in fields)


def _field_rows(lines: Iterator[_Line], file: str, form: _Form, is_stripped: bool) -> Iterator[Row | Drop]:
    """Splits lines into the fields of rows."""
    separator, width, order, _, is_quoted, is_header = form
    is_ours = order == tuple(range(width))
    for item in _quoted_rows(lines, file, separator) if is_quoted else lines:
        if isinstance(item, Drop):
            yield item
            continue
        if len(item) == 2:
            number, line = item
            fields: Sequence[str] = line.split(separator)
        else:
            number, fields, line = item
        if is_header:
            is_header = False
            yield Drop(Reason.HEADER, file, number, excerpt_of(line))
        elif width and len(fields) != width:
            yield Drop(Reason.FIELD_COUNT, file, number, excerpt_of(line))
        else:
            if is_stripped and " " in line:
                fields = [field.strip() for field in fields]
            row = number, fields if is_ours else ["" if at is None else fields[at] for at in order], line
            yield checked_row(row, file) if is_quoted else row


def _quoted_rows(lines: Iterator[_Line], file: str, separator: str | None) -> Iterator[Row | Drop]:
    """Splits lines with quotes into fields; a record's second and later lines are drops, so that all lines are counted.

    A record with wrong quotes loses only its first line; the next line begins a new record.
    """
    waiting: deque[_Line] = deque()

    def take() -> _Line | None:
        return waiting.popleft() if waiting else next(lines, None)

    def record(taken: list[_Line]) -> Iterator[str]:
        """Yields a record's lines to the CSV reader; adds each further line that it needs to `taken`."""
        while True:
            yield "\n" if isinstance(taken[-1], Drop) else taken[-1][1].replace("\r", " ") + "\n"
            item = take() if len(taken) < _MAX_QUOTED_LINES else None
            if item is None:
                return
            if isinstance(item, Drop) and item.reason is not Reason.EMPTY_LINE:
                waiting.appendleft(item)
                return
            taken.append(item)

    while (item := take()) is not None:
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        taken: list[_Line] = [item]
        try:
            fields = next(_csv_reader(record(taken), separator))
        except csv.Error:
            waiting.extendleft(reversed(taken[1:]))
            yield Drop(Reason.BAD_QUOTES, file, number, excerpt_of(line))
            continue
        yield number, [_join_lines(field) for field in fields], line
        yield from (Drop(Reason.CONTINUED, file, further, "") for further in range(number + 1, number + len(taken)))


# JSON


def _array_rows(columns: Columns, content: BinaryIO, file: str) -> Iterator[Row | Drop]:
    """Makes the rows of a JSON array; an entry counts as a line."""
    entries = read_json(content, file, Reason.BAD_ARRAY, "bring it as JSON lines")
    if isinstance(entries, Drop):
        yield entries
        return
    make_row = _row_maker(columns)
    for number, entry in enumerate(entries, 1):
        fields = make_row(entry)
        if isinstance(fields, Reason):
            yield Drop(fields, file, number, excerpt_of(json.dumps(entry, ensure_ascii=False)))
        else:
            yield checked_row((number, fields, "\t".join(fields)), file)


def _object_rows(columns: Columns, lines: Iterable[_Line], file: str) -> Iterator[Row | Drop]:
    """Makes the rows of JSON lines."""
    make_row = _row_maker(columns)
    for item in lines:
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        try:
            fields = make_row(parse_json(line.lstrip("\ufeff")))
        except ValueError:
            fields = Reason.BAD_JSON
        if isinstance(fields, Reason):
            yield Drop(fields, file, number, excerpt_of(line))
        else:
            yield checked_row((number, fields, line), file)


_LACKING: Final[Mapping[str, Reason]] = {
    "id": Reason.NO_ID,
    "query_id": Reason.NO_ID,
    "doc_id": Reason.NO_ID,
    **dict.fromkeys(("text", "query", "document"), Reason.NO_TEXT),
    "grade": Reason.BAD_GRADE,
    "split": Reason.BAD_SPLIT,
    "domain": Reason.BAD_DOMAIN,
    "score": Reason.BAD_SCORE,
}


def _row_maker(columns: Columns) -> Callable[[Any], list[str] | Reason]:
    """Returns the function that makes the fields of columns from a JSON value."""

    def make_row(content: Any) -> list[str] | Reason:
        if not isinstance(content, dict):
            return Reason.BAD_JSON
        values = {column_name(key): value for key, value in content.items() if value is not None}
        fields = []
        for column, names in columns.names.items():
            named = [values[name] for name in names if name in values]
            value = next((value for value in named if value != ""), named[0] if named else None)
            field = _field(column, value, column in columns.further)
            if field is None and column not in columns.optional | columns.further:
                return _LACKING[column]
            fields.append(field or "")
        return fields

    return make_row


def _field(column: str, value: Any, is_further: bool) -> str | None:
    """A JSON value as the text of a field, or None where it cannot be one."""
    if isinstance(value, str):
        return _join_lines(value)
    if is_further and isinstance(value, bool):
        return json.dumps(value)
    if is_further and isinstance(value, float) and not math.isfinite(value):
        return None  # a missing value of a DataFrame
    is_number = isinstance(value, int) or (isinstance(value, float) and (is_further or column in ("grade", "score")))
    return str(value) if is_number and not isinstance(value, bool) and column != "text" else None


def _join_lines(text: str) -> str:
    return re.sub(r"[\t\r\n]+", " ", text).strip()


def checked_row(row: Row, file: str) -> Row | Drop:
    """Returns the row, or a drop if a line of our own form cannot hold it."""
    line = "\t".join(row[1])
    reason = None
    if "\x00" in line:
        reason = Reason.NUL_BYTE
    else:
        try:
            if len(line.encode("utf-8")) > MAX_LINE_BYTES:
                reason = Reason.LINE_TOO_LONG
        except UnicodeEncodeError:  # half of a surrogate pair, as JSON may escape it
            reason = Reason.BAD_UTF8
    return Drop(reason, file, row[0], excerpt_of(row[2])) if reason else row


def is_id(identifier: str) -> bool:
    """Whether a text can be an id: without white space, which separates ids in run files and qrels."""
    return identifier.split() == [identifier]
