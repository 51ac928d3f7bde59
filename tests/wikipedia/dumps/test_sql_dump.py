"""wikipedia/dumps/sql_dump.py: each row of a table with any values is read, and a damaged row is an error."""

import contextlib
import gzip
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.sql_dump import read_rows, sql_columns
from smooth_clir.wikipedia.dumps.sql_syntax import parse_create_table
from tests.memory_files import MemoryFile, in_memory
from tests.wikipedia.dumps.dump_files import Value, rows_of, sql_dump

COLUMNS = "`a` int(8) unsigned NOT NULL AUTO_INCREMENT,\n  `b` varbinary(255) DEFAULT NULL,\n  `c` double NOT NULL"


def read(content: bytes, columns: Sequence[str] = ("a", "b", "c"), table: str = "t") -> list[tuple[Value, ...]]:
    with in_memory({"t.sql": content}):
        return [*read_rows("t.sql", table, columns)]


def inserted_rows(rows: bytes) -> list[tuple[Value, ...]]:
    """The rows of a dump with this INSERT, unescaped."""
    return read(sql_dump("t", COLUMNS) + b"INSERT INTO `t` VALUES " + rows)


# Rows


def test_a_dump_has_its_rows_in_their_order_however_it_is_packed() -> None:
    content = sql_dump("t", COLUMNS, *((number, f"title_{number}", number / 8) for number in range(1000)))
    rows = [(number, f"title_{number}".encode(), number / 8) for number in range(1000)]
    assert read(content) == read(gzip.compress(content)) == rows
    assert read(sql_dump("t", COLUMNS)) == []


def test_columns_are_found_by_name_and_come_as_asked() -> None:
    content = sql_dump("t", COLUMNS, (1, "x", 0.5))
    assert read(content, ["c", "a"]) == [(0.5, 1)]
    assert read(content, ["b", "b"]) == [(b"x", b"x")]
    damaged = sql_dump("t", COLUMNS) + b"INSERT INTO `t` VALUES (nonsense"
    with in_memory({"t.sql": damaged}):
        assert sql_columns("t.sql", "t") == {"a", "b", "c"}


NASTY = [
    *(
        b"),(",
        b"'),(2,'x',0.5),('",
        b");\nINSERT INTO `t` VALUES (3,'y',1);\n",
        b'the "quoted" title',
        b"O'Neill's",
        b"''",
    ),
    *(b"\\", b"\\'", b"\\\\'),(", b"a\\0\\n\\Z", b"\0\n\r\t\x1a\b%_", bytes(range(256)), "狼 🐺".encode(), b"", b" "),
    *(b"NULL", b"0x41", b"-- x", b"/* x */;", b";", b"x" * 1_500_000, b"\\'" * 30_000),
]


def test_a_value_may_hold_anything() -> None:
    rows = [(number, value, 0.5) for number, value in enumerate(NASTY)]
    assert read(sql_dump("t", COLUMNS, *rows)) == rows
    assert read(sql_dump("t", COLUMNS, *rows, in_insert=1)) == rows


def test_an_insert_may_be_longer_than_what_is_held() -> None:
    rows = [(number, b"),(" * 30, 0.0) for number in range(20_000)]
    content = gzip.compress(sql_dump("t", COLUMNS, *rows, in_insert=1 << 30))
    tracemalloc.start()
    with in_memory({"t.sql": content}):
        count = sum(1 for _ in read_rows("t.sql", "t", ["a", "b"]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *((b"''", b""), (b"'it''s'", b"it's"), (b"''''", b"'"), (b"'a'',''b'", b"a','b")),
        (rb"'\'\"\\\0\n\r\t\b\Z\a\%\_'", b"'\"\\\0\n\r\t\b\x1aa\\%\\_"),
        *((b"'a\nb'", b"a\nb"), (b"_binary 'it\\'s'", b"it's"), (b"_binary''", b""), (b"0x414200", b"AB\0")),
        *((b"x'4142'", b"AB"), (b"X''", b""), (b"b'0100000101'", b"\x01\x05"), (b"NULL", None), (b"'NULL'", b"NULL")),
        (b"20240101", b"20240101"),
    ],
)
def test_a_text_may_be_written_in_several_ways(written: bytes, value: bytes | None) -> None:
    assert inserted_rows(b"(1," + written + b",0),(2,'b',0);") == [(1, value, 0.0), (2, b"b", 0.0)]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        *((b"7", 7), (b"-7", -7), (b"0", 0), (b"%d" % (2**64 - 1), 2**64 - 1), (b"%d" % -(2**63), -(2**63))),
        *((b"NULL", None), (b"'7'", 7), (b"0x1F", 31)),
        *((b"0.25", 0.25), (b"-1.5e-07", -1.5e-7), (b"1e10", 1e10), (b"3", 3.0), (b".5", 0.5), (b"NULL", None)),
    ],
)
def test_numbers(written: bytes, number: float | None) -> None:
    if isinstance(number, float):
        assert inserted_rows(b"(1,'b'," + written + b");") == [(1, b"b", number)]
    else:
        assert inserted_rows(b"(" + written + b",'b',0);") == [(number, b"b", 0.0)]


def test_statements_may_be_written_in_several_ways() -> None:
    assert inserted_rows(b"\n  (1, 'x', 0.5),\n\n  ( 2 ,'y',1 )\n;\nINSERT  INTO `t`\nVALUES\n(3,NULL,2);") == [
        *((1, b"x", 0.5), (2, b"y", 1.0), (3, None, 2.0))
    ]
    content = sql_dump("t", COLUMNS)
    assert read(content + b"INSERT INTO `t` (`c`, `b`, `a`) VALUES (0.5,'x',1);") == [(1, b"x", 0.5)]
    content += b"# one\nREPLACE INTO `t` VALUES (1,'x',0);/* two; 'three */\n"
    content += b"INSERT IGNORE INTO `t` VALUES (2,'y',0);\n-- 'four"
    assert read(content, ["a"]) == [(1,), (2,)]


# The table


def test_keys_defaults_and_comments_are_no_columns() -> None:
    statement = b"""
CREATE TABLE IF NOT EXISTS `page``s` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'the `x` int, it''s (`y` int)',
  `kind` enum('a','b) `z` int') DEFAULT 'a\\'b',
  `ratio` decimal(4,2) DEFAULT 0.00,
  PRIMARY KEY (`id`,`kind`(20)),
  UNIQUE KEY `kind_id` (`kind`,`id`),
  CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `other` (`oid`)
) ENGINE=InnoDB;"""
    table = parse_create_table(statement)
    assert table is not None
    assert (table.name, table.columns) == ("page`s", {"id": "int", "kind": "bytes", "ratio": "float"})


# What cannot be read

WHOLE = sql_dump("t", COLUMNS, (1, "x", 0.5), (2, "y", 0.5))
TOO_LARGE = [b"%d" % 10**20, b"%d" % (-(2**63) - 1), b"%d" % 2**64, b"0xffffffffffffffffff", b"9" * 5000]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        *((b"", ""), (b"<html>404</html>", "byte 0 .*<html>404")),
        *((b"-- MySQL dump 10\n-- Dump completed\n", "table t"), (sql_dump("page", COLUMNS), r"\bpage\b")),
        (sql_dump("t", COLUMNS) + b"INSERT INTO `u` VALUES (1);", r"\bu\b"),
        (sql_dump("t", "`a` int,\n  `d` int"), "a, b, c; b, c .*a, d"),
        (b"INSERT INTO `t` VALUES (1,'x',0.5);", "CREATE TABLE"),
        (WHOLE.replace(b"),(", b") ("), "byte"),
        (WHOLE.replace(b"),(", b"),x("), "byte"),
        *((WHOLE.replace(b"(2,'y',", row), "byte") for row in (b"(2,", b"(2,'y',3,", b"('two','y',")),
        *((WHOLE.replace(b"(2,'y',", b"(%s,'y'," % number), "byte") for number in TOO_LARGE),
        (WHOLE.replace(b"VALUES", b"(`a`, `d`) VALUES"), "a, b, c"),
        (WHOLE[: WHOLE.index(b"-- Dump completed")], "-- Dump completed"),
        (gzip.compress(WHOLE)[:-20], "gzip"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(content: bytes, value: str) -> None:
    with pytest.raises(DataError, match=rf"(?s)^t\.sql: .*{value}"):
        read(content)


def test_an_error_names_the_byte_and_rows_before_it_have_been_read() -> None:
    rows = read_rows("t.sql", "t", ["a"])
    with in_memory({"t.sql": WHOLE.replace(b"(2,'y',", b"(2,y,")}):
        assert next(rows) == (1,)
    offset = WHOLE.index(b"(2,'y',")
    with pytest.raises(DataError, match=rf"byte {offset:,} .*\(2,y,"):
        next(rows)


def test_a_dump_that_is_cut_anywhere_is_an_error() -> None:
    for end in range(1, len(WHOLE) - len(" on 2024-01-01  1:02:03\n")):
        with pytest.raises(DataError):
            read(WHOLE[:end])


def test_an_endless_row_is_not_held(monkeypatch) -> None:
    monkeypatch.setattr("smooth_clir.wikipedia.dumps.sql_dump._MAX_BYTES", 1 << 20)
    with pytest.raises(DataError, match="t.sql"):
        inserted_rows(b"(1,'" + b"x" * (1 << 22))


# Laws

scalars = st.binary(max_size=12) | st.sampled_from([b"),(", b"'", b"''", b"\\", b"\\'", b"NULL", b"0x41", b"\n;"])
rows_drawn = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**64 - 1) | st.none(),
        st.lists(scalars, max_size=4).map(b"".join) | st.none(),
        st.floats(allow_nan=False, allow_infinity=False) | st.none(),
    ),
    max_size=40,
)


@given(rows_drawn, st.integers(8, 400))
def test_rows_that_are_written_are_read_wherever_the_blocks_of_the_dump_meet(
    rows: list[tuple[Value, ...]], block: int
) -> None:
    content = sql_dump("t", COLUMNS, *rows, in_insert=7)

    class Blocks(MemoryFile):  # a stream that gives little at a time
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size if size and size > 0 else block, block))

    with in_memory({"t.sql": content}, Blocks):
        assert [*read_rows("t.sql", "t", ["a", "b", "c"])] == rows


@given(
    st.binary(max_size=200) | st.lists(scalars | st.sampled_from([b"(", b")", b",", b"1"]), max_size=9).map(b"".join)
)
def test_no_bytes_crash_or_hang_the_reader(rows: bytes) -> None:
    with contextlib.suppress(DataError):
        inserted_rows(rows + b";")


def test_quotes_without_end_take_no_longer_than_their_length() -> None:
    for nasty in (b"''" * 100_000, b"('" * 100_000, b"'\\" * 100_001, rows_of([(1, "'", 0.5)])[:-2] * 50_000):
        with pytest.raises(DataError):
            inserted_rows(b"(1,'" + nasty)
