"""Reads the rows of a table from MySQL's dump of the table."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from schemas.errors import DataError
from schemas.wikiclir import excerpt_of
from smooth_clir.wikipedia.dumps.reading import damaged, unpacked_file
from smooth_clir.wikipedia.dumps.sql_syntax import SqlRowParser, SqlTable, Value, parse_create_table

_MAX_BYTES: Final = 1 << 24
"""Longest row, or statement without rows. MediaWiki's tables have much shorter ones."""

_INSERT: Final = re.compile(rb"\s*(?:INSERT|REPLACE)\b", re.IGNORECASE)
_INSERT_HEAD: Final = re.compile(
    rb"\s*(?:INSERT|REPLACE)\s+(?:IGNORE\s+)?INTO\s+`((?:[^`]|``)+)`\s*(?:\(([^()]*)\)\s*)?VALUES\b", re.IGNORECASE
)
_COMMENT: Final = re.compile(rb"\s*(?:--[^\n]*\n|#[^\n]*\n|/\*.*?\*/\s*;?|;)", re.DOTALL)
_STATEMENT: Final = re.compile(
    rb"""(?!\s*(?:--|\#|/\*))[^;'"`]*(?:(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)[^;'"`]*)*;""", re.DOTALL
)
_HEADER: Final = re.compile(rb"\s*--\s*(?:MySQL|MariaDB)\s+dump\b", re.IGNORECASE)
_FOOTER: Final = re.compile(rb"\s*--\s*Dump completed\b", re.IGNORECASE)


def read_rows(path: str, table: str, columns: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    """Yields the rows of a table, in the order of the dump.

    The dump's CREATE TABLE gives the order of the columns, which differs between dumps of the same table.

    Args:
      path: the dump, as mysqldump and mariadb-dump write it: plain or gzipped.
      table: the table's name.
      columns: the names of the wanted columns.

    Yields:
      the values in the order of `columns`: integers and floats for columns declared as such, undecoded bytes for all
      others; None for NULL.

    Raises:
      DataError: the dump is of another table, lacks a column, cannot be parsed or is incomplete.

    Example:
      >>> import tempfile
      >>> dump = b"CREATE TABLE `t` (`a` int, `b` blob);\\nINSERT INTO `t` VALUES (1,'x),('),(-2,NULL);\\n"
      >>> with tempfile.NamedTemporaryFile() as file:
      ...     _ = file.write(dump), file.flush()
      ...     [*read_rows(file.name, "t", ["b", "a"])]
      [(b'x),(', 1), (None, -2)]
    """
    for batch in read_batches(path, table, columns):
        yield from zip(*batch, strict=True)


def read_batches(path: str, table: str, columns: Sequence[str]) -> Iterator[list[list[Value]]]:
    """Yields the same as `read_rows`, thousands of rows at a time: a list of values for each wanted column.

    For tables that become arrays: makes no object for a row.
    """
    dump = _SqlDump(path, table, columns)
    for block in unpacked_file(path):
        yield from dump.feed(block)
    yield from dump.feed(b"\n", is_last=True)
    dump.check_end()


def sql_columns(path: str, table: str) -> frozenset[str]:
    """Returns the names of a table's columns; reads only the dump's CREATE TABLE, and raises like `read_rows`."""
    dump = _SqlDump(path, table, ())
    for block in unpacked_file(path):
        for _ in dump.feed(block):
            pass
        if dump.table:
            return frozenset(dump.table.columns)
    dump.check_end()
    return frozenset()


class _SqlDump:
    """A dump while it is read, statement by statement."""

    def __init__(self, path: str, name: str, columns: Sequence[str]) -> None:
        self._path, self._name, self._columns = path, name, columns
        self.table: SqlTable | None = None  # until CREATE TABLE is read
        self._rows: SqlRowParser | None = None
        self._unread = b""
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._offset = 0
        self._has_header = self._has_footer = False

    def feed(self, block: bytes, is_last: bool = False) -> Iterator[list[list[Value]]]:
        """Yields the rows that the block completes, many at a time: a list of values for each wanted column."""
        self._waiting.append(block)
        self._waiting_bytes += len(block)
        # Does not search a long row again with every block.
        if self._waiting_bytes < len(self._unread) and not is_last:
            return
        self._unread = b"".join([self._unread, *self._waiting])
        self._waiting, self._waiting_bytes = [], 0
        while self._unread:
            if self._rows:
                try:
                    columns, end, is_over = self._rows.parse(self._unread)
                except ValueError as error:
                    raise self._error(f"values must be of their columns' types; {error}") from error
                if columns:
                    yield columns
                if is_over:
                    self._rows = None
                self._pass_on(end)
                if not is_over:
                    break
            elif not self._pass_statement():
                break
        if len(self._unread) > _MAX_BYTES:
            raise self._error(f"a row or statement must have at most {_MAX_BYTES:,} bytes")

    def check_end(self) -> None:
        """Checks that the dump is complete."""
        if self._rows or self._unread.strip():
            raise self._error("the file ends within a row or statement")
        if self.table is None:
            raise DataError(f"{self._path}: must be a dump of the table {self._name}; it has no CREATE TABLE.")
        if self._has_header and not self._has_footer:
            raise damaged(self._path, "it must end with '-- Dump completed', because it begins with '-- MySQL dump'")

    def _pass_on(self, end: int) -> None:
        self._unread = self._unread[end:]
        self._offset += end

    def _pass_statement(self) -> bool:
        """Reads a statement or comment up to the first row; returns False if it is incomplete."""
        if _INSERT.match(self._unread):
            match = _INSERT_HEAD.match(self._unread)
            if match:
                self._rows = self._row_parser(match)
        elif match := _COMMENT.match(self._unread):
            self._has_header |= _HEADER.match(self._unread) is not None
            self._has_footer |= _FOOTER.match(self._unread) is not None
        elif match := _STATEMENT.match(self._unread):
            self._read_statement(match.group())
        if match:
            self._pass_on(match.end())
        return match is not None

    def _read_statement(self, statement: bytes) -> None:
        table = parse_create_table(statement)
        if table is None:
            return
        self._check_name(table.name)
        if missing := [column for column in self._columns if column not in table.columns]:
            raise DataError(
                f"{self._path}: the table {self._name} must have the columns {', '.join(self._columns)}; "
                f"{', '.join(missing)} missing in {', '.join(table.columns)}. The dump is too old or too new."
            )
        self.table = table

    def _check_name(self, name: str) -> None:
        if name != self._name:
            raise DataError(f"{self._path}: must be a dump of the table {self._name}; got {name}.")

    def _row_parser(self, insert: re.Match[bytes]) -> SqlRowParser:
        self._check_name(insert[1].decode("utf-8", "replace"))
        if self.table is None:
            raise self._error("CREATE TABLE must come before INSERT")
        names = [*self.table.columns]
        if insert[2] is not None:
            names = [name.strip().strip(b"`").decode("utf-8", "replace") for name in insert[2].split(b",")]
            if not {*self._columns} <= {*names} <= {*self.table.columns}:
                raise self._error(f"INSERT must name the columns {', '.join(self._columns)}, and no unknown column")
        return SqlRowParser(self.table, names, self._columns)

    def _error(self, fault: str) -> DataError:
        return damaged(self._path, f"{fault}: byte {self._offset:,} of the SQL, {excerpt_of(self._unread.lstrip())!r}")
