"""Small dump files in memory, as Wikimedia and mysqldump write them."""

import bz2
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

NAMESPACES = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 2: "User", 6: "File", 10: "Template", 14: "Category"}
END = "</mediawiki>\n"


def header(
    database: str = "enwiki",
    language: str = "en",
    version: str = "0.11",
    case: str = "first-letter",
    namespaces: Mapping[int, str] = NAMESPACES,
) -> str:
    """The part of a dump before its pages."""
    names = "".join(
        f'      <namespace key="{key}" case="{case}">{name}</namespace>\n'
        if name
        else f'      <namespace key="{key}" case="{case}" />\n'
        for key, name in namespaces.items()
    )
    address = f"http://www.mediawiki.org/xml/export-{version}/"
    return (
        f'<mediawiki xmlns="{address}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        f'xsi:schemaLocation="{address} http://www.mediawiki.org/xml/export-{version}.xsd" version="{version}" '
        f'xml:lang="{language}">\n'
        f"  <siteinfo>\n    <sitename>Wikipedia</sitename>\n    <dbname>{database}</dbname>\n"
        f"    <base>https://{language}.wikipedia.org/wiki/Main_Page</base>\n"
        f"    <generator>MediaWiki 1.43.0-wmf.1</generator>\n    <case>{case}</case>\n"
        f"    <namespaces>\n{names}    </namespaces>\n  </siteinfo>\n"
    )


def revision(text: str, model: str = "wikitext", slots: str = "") -> str:
    """A revision; its text is escaped as MediaWiki does."""
    return raw_revision(
        f'<text bytes="{len(text.encode())}" sha1="x" xml:space="preserve">{escape(text)}</text>', model, slots
    )


def raw_revision(text: str, model: str = "wikitext", slots: str = "") -> str:
    """A revision with this element as its text."""
    return (
        "    <revision>\n      <id>70</id>\n      <parentid>69</parentid>\n"
        "      <timestamp>2024-01-01T00:00:00Z</timestamp>\n      <contributor>\n"
        "        <username>Someone &amp; else</username>\n        <id>17</id>\n      </contributor>\n"
        "      <comment>a &lt;page&gt; of [[links]]</comment>\n      <origin>70</origin>\n"
        f"      <model>{model}</model>\n      <format>text/x-wiki</format>\n      {text}\n"
        f"      <sha1>x</sha1>\n{slots}    </revision>\n"
    )


def page(page_id: int, title: str, text: str, namespace: int = 0, redirect: str | None = None) -> str:
    """A page of one revision."""
    return raw_page(page_id, title, revision(text), namespace, redirect)


def raw_page(page_id: int, title: str, revisions: str, namespace: int = 0, redirect: str | None = None) -> str:
    """A page with these revisions, unescaped."""
    leads_to = f'    <redirect title="{escape(redirect)}" />\n' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{page_id}</id>\n"
        f"{leads_to}{revisions}  </page>\n"
    )


def dump(*pages: str, **about: Any) -> bytes:
    """A whole dump."""
    return f"{header(**about)}{''.join(pages)}{END}".encode()


def multistream(pages: Sequence[str], in_stream: int, **about: Any) -> tuple[bytes, bytes]:
    """A multistream dump, and its index, both bzipped; page ids count from 1."""
    content = bz2.compress(header(**about).encode())
    index = []
    for first in range(0, len(pages), in_stream):
        group = pages[first : first + in_stream]
        index += [f"{len(content)}:{first + number}:Title {first + number}\n" for number in range(1, len(group) + 1)]
        content += bz2.compress("".join(group).encode())
    return content + bz2.compress(END.encode()), bz2.compress("".join(index).encode())


Value = bytes | str | int | float | None

_ESCAPES = {b"\0": rb"\0", b"\n": rb"\n", b"\r": rb"\r", b"\\": rb"\\", b"'": rb"\'", b'"': rb"\"", b"\x1a": rb"\Z"}


def literal(value: Value) -> bytes:
    """A value as mysqldump writes it."""
    if value is None:
        return b"NULL"
    if isinstance(value, int | float):
        return repr(value).encode()
    content = value.encode() if isinstance(value, str) else value
    return b"'" + re.sub(rb"[\0\n\r\\'\"\x1a]", lambda match: _ESCAPES[match.group()], content) + b"'"


def rows_of(rows: Iterable[Sequence[Value]]) -> bytes:
    """Rows as mysqldump writes them."""
    return b",".join(b"(" + b",".join(map(literal, row)) + b")" for row in rows)


def sql_dump(table: str, columns: str, *rows: Sequence[Value], in_insert: int = 100) -> bytes:
    """A whole dump of a table.

    Args:
      table: the table's name.
      columns: the definitions of its columns, with commas between them.
      rows: the values of each row.
      in_insert: the number of rows in an INSERT.
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
