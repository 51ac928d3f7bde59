"""Reads a table from MySQL's dump of it, column by column."""

from collections.abc import Iterator, Sequence

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_dump import SqlDump
from components.wikipedia_gen.dumps.sql_values import Value
from components.wikipedia_gen.dumps.unpacked_blocks import unpacked_file


def read_batches(path: str, table: str, columns: Sequence[str], open_file: OpenFile) -> Iterator[list[list[Value]]]:
    """As `read_rows`, some thousand rows at a time: for each column that is asked for its values.

    For tables of which arrays are made: no row becomes an object of its own.
    """
    dump = SqlDump(path, table, columns)
    for block in unpacked_file(path, open_file):
        yield from dump.feed(block)
    yield from dump.feed(b"\n", is_last=True)
    dump.check_end()
