"""Reads the rows of a table from MySQL's dump of it."""

from collections.abc import Iterator, Sequence

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_batches import read_batches
from components.wikipedia_gen.dumps.sql_values import Value


def read_rows(path: str, table: str, columns: Sequence[str], open_file: OpenFile) -> Iterator[tuple[Value, ...]]:
    """The rows of a table, some columns of each, in the order of the dump.

    Where a column stands is taken from the dump's own CREATE TABLE: it differs between dumps of one table.

    Args:
      path: of the dump, as mysqldump and mariadb-dump write it: plain or gzipped.
      table: its name.
      columns: the names of those that are asked for.
      open_file: opens the dump.

    Yields:
      the values in the order of `columns`: integers and floats of columns declared as such, bytes of any other, which
      are not decoded; None for NULL.

    Raises:
      DataError: it is a dump of another table, lacks a column, cannot be parsed or does not go to its end.

    Example:
      >>> import io
      >>> dump = b"CREATE TABLE `t` (`a` int, `b` blob);\\nINSERT INTO `t` VALUES (1,'x),('),(-2,NULL);\\n"
      >>> [*read_rows("t.sql", "t", ["b", "a"], lambda path, mode: io.BytesIO(dump))]
      [(b'x),(', 1), (None, -2)]
    """
    for batch in read_batches(path, table, columns, open_file):
        yield from zip(*batch, strict=True)
