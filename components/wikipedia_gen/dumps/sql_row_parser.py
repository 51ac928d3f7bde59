"""Parses rows of a table, many at a time."""

import re
from collections.abc import Sequence

from components.wikipedia_gen.dumps.sql_table import SqlTable
from components.wikipedia_gen.dumps.sql_values import ANY_VALUE, PLAIN_VALUES, Value, values_of


class SqlRowParser:
    """Parses the rows of one INSERT, many at a time.

    Args:
      table: of the rows.
      names: of the values in a row.
      asked: the columns that are asked for.
    """

    def __init__(self, table: SqlTable, names: Sequence[str], asked: Sequence[str]) -> None:
        captured = [name for name in names if name in asked]
        columns = [(name in asked, table.columns[name]) for name in names]
        self._plain = _row_regex([_group(is_asked, PLAIN_VALUES[kind]) for is_asked, kind in columns], b"")
        self._any = _row_regex([_group(is_asked, ANY_VALUE) for is_asked, _ in columns], rb"\s*")
        self._columns = [(captured.index(name), table.columns[name]) for name in asked]

    def parse(self, data: bytes) -> tuple[list[list[Value]], int, bool]:
        """The values, by column, of the rows that data begins with; where these end; and whether the statement does."""
        tokens, end = _find(self._plain, data)
        if end < len(data) and not _is_over(tokens):
            more, end_of_more = _find(self._any, data[end:])
            tokens, end = tokens + more, end + end_of_more
        if not tokens:
            return [], 0, False
        by_column = [*zip(*tokens, strict=True)]
        return [values_of(kind, by_column[place]) for place, kind in self._columns], end, _is_over(tokens)


def _group(is_captured: bool, value: bytes) -> bytes:
    return (b"(" if is_captured else b"(?:") + value + b")"


def _row_regex(values: Sequence[bytes], space: bytes) -> re.Pattern[bytes]:
    comma = space + b"," + space
    row = space + rb"\(" + space + comma.join(values) + space + rb"\)" + space + b"([,;])"
    # What no row matches is taken as a whole, so that nothing between two rows can be passed over.
    return re.compile(row + b"|(.+)", re.DOTALL)


def _find(regex: re.Pattern[bytes], data: bytes) -> tuple[list[tuple[bytes, ...]], int]:
    """The tokens of the rows that data begins with, and where they end."""
    rows = regex.findall(data)
    end = len(data)
    if rows and rows[-1][-1]:
        end -= len(rows.pop()[-1])
    return rows, end


def _is_over(rows: Sequence[tuple[bytes, ...]]) -> bool:
    return bool(rows) and rows[-1][-2] == b";"
