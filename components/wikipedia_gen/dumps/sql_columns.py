"""The columns that a dump of a table has."""

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_dump import SqlDump
from components.wikipedia_gen.dumps.unpacked_blocks import unpacked_file


def sql_columns(path: str, table: str, open_file: OpenFile) -> frozenset[str]:
    """Their names, from the dump's CREATE TABLE; no more of the file is read.

    Raises:
      DataError: see `read_rows`.
    """
    dump = SqlDump(path, table, ())
    for block in unpacked_file(path, open_file):
        for _ in dump.feed(block):
            pass
        if dump.table:
            return frozenset(dump.table.columns)
    dump.check_end()
    return frozenset()
