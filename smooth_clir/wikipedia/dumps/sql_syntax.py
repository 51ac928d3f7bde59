"""Parses the SQL that mysqldump writes: the columns of a table, and rows of values."""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from schemas.errors import DataError

Kind: TypeAlias = Literal["int", "float", "bytes"]
"""The kind of a column."""
Value: TypeAlias = bytes | int | float | None

_CREATE: Final = re.compile(rb"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?`((?:[^`]|``)+)`\s*\(", re.IGNORECASE)
_COLUMN: Final = re.compile(rb"(?:^|[(,])\s*`((?:[^`]|``)+)`\s+(\w+)")
_QUOTED: Final = re.compile(rb"'(?:[^'\\]|\\.|'')*'", re.DOTALL)
_INTEGERS: Final = frozenset(["tinyint", "smallint", "mediumint", "int", "integer", "bigint"])
_DIGITS_OF_64_BITS: Final = 19
_FLOATS: Final = frozenset(["float", "double", "decimal", "numeric", "real"])


class SqlTable(NamedTuple):
    """A table: its name, and the kind of each column by the column's name, in the order of the dump."""

    name: str
    columns: dict[str, Kind]


def parse_create_table(statement: bytes) -> SqlTable | None:
    """Returns the table that a statement creates; None for any other statement.

    Raises:
      DataError: the statement names no column.

    Example:
      >>> parse_create_table(b"CREATE TABLE `t` (`a` int(8) NOT NULL, `b` varbinary(9) DEFAULT ',', KEY `k` (`b`));")
      SqlTable(name='t', columns={'a': 'int', 'b': 'bytes'})
    """
    match = _CREATE.match(statement)
    if not match:
        return None
    # A comment or a default may look like a column.
    definitions = _QUOTED.sub(b"''", statement[match.end() :])
    columns = {_name(name): _kind(kind.decode().lower()) for name, kind in _COLUMN.findall(definitions)}
    if not columns:
        raise DataError(f"CREATE TABLE must name columns; got {statement[:80]!r}.")
    return SqlTable(_name(match[1]), columns)


def _name(quoted: bytes) -> str:
    return quoted.decode("utf-8", "replace").replace("``", "`")


def _kind(declared: str) -> Kind:
    if declared in _INTEGERS:
        return "int"
    return "float" if declared in _FLOATS else "bytes"


_STRING: Final = rb"'[^'\\]*(?:\\.[^'\\]*)*'"
_ANY_STRING: Final = rb"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'(?!')"
"""A quote ends the string unless another quote follows, so the pattern does not backtrack."""

_ANY_NUMBER: Final = rb"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_LITERAL: Final = rb"NULL|0x[0-9A-Fa-f]+|[xX]'[0-9A-Fa-f]*'|[bB]'[01]*'"
_PLAIN_VALUES: Final[dict[Kind, bytes]] = {
    "int": rb"-?[0-9]+|NULL",
    "float": rb"-?[0-9.]+(?:[eE][-+]?[0-9]+)?|NULL",
    "bytes": _STRING + rb"|NULL",
}
"""Patterns of the values of each kind in their usual form."""

_ANY_VALUE: Final = b"|".join([rb"(?:_binary\s*)?" + _ANY_STRING, _LITERAL, _ANY_NUMBER])
"""A pattern of the values of all kinds in all forms."""


class SqlRowParser:
    """Parses the rows of an INSERT, many at a time.

    Args:
      table: the table of the rows.
      names: the columns of the values in a row.
      wanted: the wanted columns.
    """

    def __init__(self, table: SqlTable, names: Sequence[str], wanted: Sequence[str]) -> None:
        captured = [name for name in names if name in wanted]
        columns = [(name in wanted, table.columns[name]) for name in names]
        self._plain = _row_regex([_group(is_wanted, _PLAIN_VALUES[kind]) for is_wanted, kind in columns], b"")
        self._any = _row_regex([_group(is_wanted, _ANY_VALUE) for is_wanted, _ in columns], rb"\s*")
        self._columns = [(captured.index(name), table.columns[name]) for name in wanted]

    def parse(self, data: bytes) -> tuple[list[list[Value]], int, bool]:
        """Parses the rows with which data begins.

        Returns:
          the values of each wanted column, the end of the rows in data, and whether the statement ends there.
        """
        tokens, end = _find(self._plain, data)
        if end < len(data) and not _is_over(tokens):
            more, end_of_more = _find(self._any, data[end:])
            tokens, end = tokens + more, end + end_of_more
        if not tokens:
            return [], 0, False
        by_column = [*zip(*tokens, strict=True)]
        return [values_of(kind, by_column[position]) for position, kind in self._columns], end, _is_over(tokens)


def _group(is_captured: bool, value: bytes) -> bytes:
    return (b"(" if is_captured else b"(?:") + value + b")"


def _row_regex(values: Sequence[bytes], space: bytes) -> re.Pattern[bytes]:
    comma = space + b"," + space
    row = space + rb"\(" + space + comma.join(values) + space + rb"\)" + space + b"([,;])"
    # Matches all that is not a row, so that nothing between two rows is skipped.
    return re.compile(row + b"|(.+)", re.DOTALL)


def _find(regex: re.Pattern[bytes], data: bytes) -> tuple[list[tuple[bytes, ...]], int]:
    """Returns the tokens of the rows with which data begins, and the end of these rows."""
    rows = regex.findall(data)
    end = len(data)
    if rows and rows[-1][-1]:
        end -= len(rows.pop()[-1])
    return rows, end


def _is_over(rows: Sequence[tuple[bytes, ...]]) -> bool:
    return bool(rows) and rows[-1][-2] == b";"


_ESCAPED: Final = re.compile(rb"\\(.)|''", re.DOTALL)
_QUOTE: Final = ord("'")
_BACKSLASH: Final = ord("\\")
_MEANT: Final = {
    b"0": b"\0",
    b"b": b"\b",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"Z": b"\x1a",
    b"%": b"\\%",
    b"_": b"\\_",
}


def values_of(kind: Kind, tokens: Sequence[bytes]) -> list[Value]:
    """Returns the values of a column's tokens.

    Raises:
      ValueError: a token of a number's column is not a number, or an integer has more than 64 bits.

    Example:
      >>> values_of("bytes", [rb"'it\\'s'", b"NULL", b"0x6162"]), values_of("int", [b"-7", b"NULL"])
      ([b"it's", None, b'ab'], [-7, None])
    """
    if kind == "bytes":
        # Most strings have no escapes. (Searching bytes for an integer is five times as fast as for bytes.)
        return [
            token[1:-1] if token[0] == _QUOTE and _BACKSLASH not in token and token.count(b"'") == 2 else _bytes(token)
            for token in tokens
        ]
    convert: Callable[[bytes], int | float] = int if kind == "int" else float
    numbers: list[Value]
    try:
        numbers = [*map(convert, tokens)]
    except ValueError:
        numbers = [_number(token, convert) for token in tokens]
    if kind == "int" and max(map(len, tokens), default=0) >= _DIGITS_OF_64_BITS:
        for number in numbers:
            if isinstance(number, int) and not -(2**63) <= number < 2**64:
                raise ValueError(f"an integer must fit into 64 bits; got {str(number)[:40]}")
    return numbers


def _number(token: bytes, convert: Callable[[bytes], int | float]) -> Value:
    if token == b"NULL":
        return None
    if token.lower().startswith(b"0x"):
        return int(token, 16)
    return convert(_bytes(token) or b"")


def _bytes(token: bytes) -> bytes | None:
    if token[:1] == b"'":
        inner = token[1:-1]
        return _ESCAPED.sub(_meant, inner) if b"\\" in inner or b"''" in inner else inner
    if token == b"NULL":
        return None
    if token.startswith(b"_binary"):
        return _bytes(token[len(b"_binary") :].lstrip())
    digits = token[2:].strip(b"'")
    if token[:2].lower() in (b"0x", b"x'"):
        return bytes.fromhex((b"0" * (len(digits) % 2) + digits).decode())
    if token[:2].lower() == b"b'":
        number = int(digits or b"0", 2)
        return number.to_bytes((len(digits) + 7) // 8, "big")
    return token


def _meant(escaped: re.Match[bytes]) -> bytes:
    character = escaped[1]
    return b"'" if character is None else _MEANT.get(character, character)
