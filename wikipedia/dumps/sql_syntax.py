"""The SQL that mysqldump writes: a table's columns, and rows of values."""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from schemas.errors import DataError

Kind: TypeAlias = Literal["int", "float", "bytes"]

_CREATE: Final = re.compile(rb"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?`((?:[^`]|``)+)`\s*\(", re.IGNORECASE)
_COLUMN: Final = re.compile(rb"(?:^|[(,])\s*`((?:[^`]|``)+)`\s+(\w+)")
_QUOTED: Final = re.compile(rb"'(?:[^'\\]|\\.|'')*'", re.DOTALL)
_INTEGERS: Final = frozenset(["tinyint", "smallint", "mediumint", "int", "integer", "bigint"])
_FLOATS: Final = frozenset(["float", "double", "decimal", "numeric", "real"])


class SqlTable(NamedTuple):
    """A table: its name, and the kind of each column by its name, in the order of the dump."""

    name: str
    columns: dict[str, Kind]


def parse_create_table(statement: bytes) -> SqlTable | None:
    """The table that a statement creates; None if it is another statement.

    Raises:
      DataError: no column is found in it.

    Example:
      >>> parse_create_table(b"CREATE TABLE `t` (`a` int(8) NOT NULL, `b` varbinary(9) DEFAULT ',', KEY `k` (`b`));")
      SqlTable(name='t', columns={'a': 'int', 'b': 'bytes'})
    """
    found = _CREATE.match(statement)
    if not found:
        return None
    # A comment or a default may hold what looks like a column.
    definitions = _QUOTED.sub(b"''", statement[found.end() :])
    columns = {_name(name): _kind(kind.decode().lower()) for name, kind in _COLUMN.findall(definitions)}
    if not columns:
        raise DataError(f"CREATE TABLE must name columns; got {statement[:80]!r}.")
    return SqlTable(_name(found[1]), columns)


def _name(quoted: bytes) -> str:
    return quoted.decode("utf-8", "replace").replace("``", "`")


def _kind(declared: str) -> Kind:
    if declared in _INTEGERS:
        return "int"
    return "float" if declared in _FLOATS else "bytes"


Value: TypeAlias = bytes | int | float | None

_STRING: Final = rb"'[^'\\]*(?:\\.[^'\\]*)*'"
_ANY_STRING: Final = rb"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'(?!')"
"""A quote that is not followed by another ends it, so that there is one way to read it: no backtracking."""

_ANY_NUMBER: Final = rb"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_OTHER: Final = rb"NULL|0x[0-9A-Fa-f]+|[xX]'[0-9A-Fa-f]*'|[bB]'[01]*'"
PLAIN_VALUES: Final[dict[Kind, bytes]] = {
    "int": rb"-?[0-9]+|NULL",
    "float": rb"-?[0-9.]+(?:[eE][-+]?[0-9]+)?|NULL",
    "bytes": _STRING + rb"|NULL",
}
"""What matches the values of a kind of column as they nearly always are."""

ANY_VALUE: Final = b"|".join([rb"(?:_binary\s*)?" + _ANY_STRING, _OTHER, _ANY_NUMBER])
"""What matches a value of any kind in any way of writing it."""

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
    """The values that tokens of one column stand for.

    Raises:
      ValueError: a number is expected, and there is none.

    Example:
      >>> values_of("bytes", [rb"'it\\'s'", b"NULL", b"0x6162"]), values_of("int", [b"-7", b"NULL"])
      ([b"it's", None, b'ab'], [-7, None])
    """
    if kind == "bytes":
        # Most strings are as they stand. (To look for a number among bytes is five times as fast as for bytes.)
        return [
            token[1:-1] if token[0] == _QUOTE and _BACKSLASH not in token and token.count(b"'") == 2 else _bytes(token)
            for token in tokens
        ]
    convert: Callable[[bytes], int | float] = int if kind == "int" else float
    try:
        return [*map(convert, tokens)]
    except ValueError:
        return [_number(token, convert) for token in tokens]


def _number(token: bytes, convert: Callable[[bytes], int | float]) -> Value:
    if token == b"NULL":
        return None
    if token.lower().startswith(b"0x"):
        return int(token, 16)
    return convert(_bytes(token) or b"")


def _bytes(token: bytes) -> bytes | None:
    if token[:1] == b"'":
        inner = token[1:-1]
        if b"\\" in inner or b"''" in inner:
            return _ESCAPED.sub(_meant, inner)
        return inner
    return _of_other(token)


def _meant(escaped: re.Match[bytes]) -> bytes:
    character = escaped[1]
    return b"'" if character is None else _MEANT.get(character, character)


def _of_other(token: bytes) -> bytes | None:
    """What is written in another way than as a string in quotes."""
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
