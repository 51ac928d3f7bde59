"""Dumps of tables as mysqldump writes them."""

import re
from collections.abc import Iterable, Sequence

Value = bytes | str | int | float | None

_ESCAPES = {b"\0": rb"\0", b"\n": rb"\n", b"\r": rb"\r", b"\\": rb"\\", b"'": rb"\'", b'"': rb"\"", b"\x1a": rb"\Z"}


def literal(value: Value) -> bytes:
    """A value as mysqldump writes it."""
    if value is None:
        return b"NULL"
    if isinstance(value, int | float):
        return repr(value).encode()
    content = value.encode() if isinstance(value, str) else value
    return b"'" + re.sub(rb"[\0\n\r\\'\"\x1a]", lambda found: _ESCAPES[found.group()], content) + b"'"


def rows_of(rows: Iterable[Sequence[Value]]) -> bytes:
    """Rows as mysqldump writes them."""
    return b",".join(b"(" + b",".join(map(literal, row)) + b")" for row in rows)


def sql_dump(table: str, columns: str, *rows: Sequence[Value], in_insert: int = 100) -> bytes:
    """A whole dump.

    Args:
      table: its name.
      columns: their definitions, with commas between.
      rows: of the table.
      in_insert: how many rows an INSERT has.
    """
    inserts = [
        f"INSERT INTO `{table}` VALUES ".encode() + rows_of(rows[start : start + in_insert]) + b";\n"
        for start in range(0, len(rows), in_insert)
    ]
    return (
        "/*M!999999\\- enable the sandbox mode */ \n"
        "-- MySQL dump 10.19  Distrib 10.3.38-MariaDB, for debian-linux-gnu (x86_64)\n--\n"
        f"-- Host: 10.0.0.1    Database: enwiki; it's\n-- Table structure for table `{table}`\n--\n\n"
        "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n"
        f"DROP TABLE IF EXISTS `{table}`;\n/*!40101 SET character_set_client = utf8 */;\n"
        f"CREATE TABLE `{table}` (\n  {columns},\n  PRIMARY KEY (`a`),\n  KEY `k` (`b`,`a`)\n"
        ") ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=binary COMMENT='a; `b` int';\n"
        f"\n--\n-- Dumping data for table `{table}`\n--\n\nLOCK TABLES `{table}` WRITE;\n"
        f"/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\n"
    ).encode() + (
        b"".join(inserts)
        + f"/*!40000 ALTER TABLE `{table}` ENABLE KEYS */;\nUNLOCK TABLES;\n".encode()
        + b"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n\n"
        b"-- Dump completed on 2024-01-01  1:02:03\n"
    )
