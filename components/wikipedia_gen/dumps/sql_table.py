"""The columns of a table, from the statement that creates it."""

import re
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
