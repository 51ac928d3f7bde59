"""wikipedia/dumps/sql_dump.py: each row of a table with any values is read, and a damaged row is an error."""

import gzip
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import DataError
from tests.wikipedia.dumps.dump_files import Value, opener, rows_of, sql_dump
from wikipedia.dumps.sql_dump import read_rows, sql_columns
from wikipedia.dumps.sql_syntax import parse_create_table

COLUMNS = "`a` int(8) unsigned NOT NULL AUTO_INCREMENT,\n  `b` varbinary(255) DEFAULT NULL,\n  `c` double NOT NULL"


def read(content: bytes, columns: Sequence[str] = ("a", "b", "c"), table: str = "t") -> list[tuple[Value, ...]]:
    return [*read_rows("t.sql", table, columns, opener({"t.sql": content}))]


def of_values(rows: bytes) -> list[tuple[Value, ...]]:
    """The rows of a dump with this INSERT, unescaped."""
    return read(sql_dump("t", COLUMNS) + b"INSERT INTO `t` VALUES " + rows)


# Rows


def test_a_dump_has_its_rows_in_their_order() -> None:
    rows = [(place, f"title_{place}", place / 8) for place in range(1000)]
    assert read(sql_dump("t", COLUMNS, *rows)) == [
        (place, f"title_{place}".encode(), place / 8) for place in range(1000)
    ]


def test_columns_are_found_by_name_and_come_as_asked() -> None:
    content = sql_dump("t", COLUMNS, (1, "x", 0.5))
    assert read(content, ["c", "a"]) == [(0.5, 1)]
    assert read(content, ["b"]) == [(b"x",)]
    assert read(content, ["b", "b"]) == [(b"x", b"x")]


def test_a_gzipped_dump_is_unpacked() -> None:
    assert read(gzip.compress(sql_dump("t", COLUMNS, (1, "x", 0.5)))) == [(1, b"x", 0.5)]


def test_a_table_without_rows_has_none() -> None:
    assert read(sql_dump("t", COLUMNS)) == []


NASTY = [
    b"),(",
    b"'),(2,'x',0.5),('",
    b");\nINSERT INTO `t` VALUES (3,'y',1);\n",
    b'the "quoted" title',
    b"O'Neill's",
    b"''",
    b"\\",
    b"\\'",
    b"\\\\'),(",
    b"a\\0\\n\\Z",
    b"\0\n\r\t\x1a\b%_",
    bytes(range(256)),
    "狼 🐺".encode(),
    b"",
    b" ",
    b"NULL",
    b"0x41",
    b"-- x",
    b"/* x */;",
    b";",
    b"x" * 1_500_000,
    b"\\'" * 30_000,
]


@pytest.mark.stages
def test_a_value_may_hold_anything() -> None:
    rows = [(place, value, 0.5) for place, value in enumerate(NASTY)]
    assert read(sql_dump("t", COLUMNS, *rows)) == rows
    assert read(sql_dump("t", COLUMNS, *rows, in_insert=1)) == rows


@pytest.mark.stages
def test_an_insert_may_be_longer_than_what_is_held() -> None:
    rows = [(place, b"),(" * 30, 0.0) for place in range(30_000)]
    content = gzip.compress(sql_dump("t", COLUMNS, *rows, in_insert=1 << 30))
    tracemalloc.start()
    count = sum(1 for _ in read_rows("t.sql", "t", ["a", "b"], opener({"t.sql": content})))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 30_000
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (b"''", b""),
        (b"'it''s'", b"it's"),
        (b"''''", b"'"),
        (b"'a'',''b'", b"a','b"),
        (rb"'\'\"\\\0\n\r\t\b\Z\a\%\_'", b"'\"\\\0\n\r\t\b\x1aa\\%\\_"),
        (b"'a\nb'", b"a\nb"),
        (b"_binary 'it\\'s'", b"it's"),
        (b"_binary''", b""),
        (b"0x414200", b"AB\0"),
        (b"x'4142'", b"AB"),
        (b"X''", b""),
        (b"b'0100000101'", b"\x01\x05"),
        (b"NULL", None),
        (b"'NULL'", b"NULL"),
        (b"20240101", b"20240101"),
    ],
)
def test_a_text_may_be_written_in_several_ways(written: bytes, value: bytes | None) -> None:
    assert of_values(b"(1," + written + b",0),(2,'b',0);") == [(1, value, 0.0), (2, b"b", 0.0)]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        *((b"7", 7), (b"-7", -7), (b"0", 0), (b"18446744073709551615", 18446744073709551615)),
        *((b"NULL", None), (b"'7'", 7), (b"0x1F", 31)),
    ],
)
def test_integers(written: bytes, number: int | None) -> None:
    assert of_values(b"(" + written + b",'b',0);") == [(number, b"b", 0.0)]


@pytest.mark.parametrize(
    ("written", "number"),
    [(b"0.25", 0.25), (b"-1.5e-07", -1.5e-7), (b"1e10", 1e10), (b"3", 3.0), (b".5", 0.5), (b"NULL", None)],
)
def test_floats(written: bytes, number: float | None) -> None:
    assert of_values(b"(1,'b'," + written + b");") == [(1, b"b", number)]


def test_a_statement_may_go_over_lines_and_have_spaces() -> None:
    assert of_values(b"\n  (1, 'x', 0.5),\n\n  ( 2 ,'y',1 )\n;\nINSERT  INTO `t`\nVALUES\n(3,NULL,2);") == [
        *((1, b"x", 0.5), (2, b"y", 1.0), (3, None, 2.0))
    ]


def test_an_insert_may_name_its_columns() -> None:
    content = sql_dump("t", COLUMNS) + b"INSERT INTO `t` (`c`, `b`, `a`) VALUES (0.5,'x',1);"
    assert read(content) == [(1, b"x", 0.5)]


def test_replace_and_insert_ignore_are_inserts_and_comments_may_stand_anywhere() -> None:
    content = sql_dump("t", COLUMNS) + (
        b"# one\nREPLACE INTO `t` VALUES (1,'x',0);/* two; 'three */\n"
        b"INSERT IGNORE INTO `t` VALUES (2,'y',0);\n-- 'four"
    )
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


def test_the_columns_of_a_dump_are_known_without_its_rows() -> None:
    content = sql_dump("t", COLUMNS) + b"INSERT INTO `t` VALUES (nonsense"
    assert sql_columns("t.sql", "t", opener({"t.sql": content})) == {"a", "b", "c"}


# What cannot be read

WHOLE = sql_dump("t", COLUMNS, (1, "x", 0.5), (2, "y", 0.5))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"<html>404</html>", "a row or statement must end; the file does: byte 0 of the SQL, '<html>404</html>"),
        (
            b"-- MySQL dump 10\n-- Dump completed\n",
            "expected a dump of the table t, with its CREATE TABLE; there is none",
        ),
        (sql_dump("page", COLUMNS), "expected a dump of the table t; got one of page"),
        (sql_dump("t", COLUMNS) + b"INSERT INTO `u` VALUES (1);", "expected a dump of the table t; got one of u"),
        (sql_dump("t", "`a` int,\n  `d` int"), "must have the columns a, b, c; b, c missing in a, d"),
        (b"INSERT INTO `t` VALUES (1,'x',0.5);", "CREATE TABLE must come before INSERT"),
        (WHOLE.replace(b"),(", b") ("), "a row or statement must end"),
        (WHOLE.replace(b"),(", b"),x("), "a row or statement must end"),
        (WHOLE.replace(b"(2,'y',", b"(2,"), "a row or statement must end"),
        (WHOLE.replace(b"(2,'y',", b"(2,'y',3,"), "a row or statement must end"),
        (WHOLE.replace(b"(2,'y',", b"('two','y',"), "values must be of their columns' types"),
        (
            WHOLE.replace(b"VALUES", b"(`a`, `d`) VALUES"),
            "INSERT must name the columns a, b, c, and none that is unknown",
        ),
        (WHOLE[: WHOLE.index(b"-- Dump completed")], "it must end with '-- Dump completed'"),
        (gzip.compress(WHOLE)[:-20], "gzip cannot unpack it"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match="^t.sql: ") as error:
        read(content)
    assert message in str(error.value)


def test_an_error_names_the_byte_and_rows_before_it_have_been_read() -> None:
    rows = read_rows("t.sql", "t", ["a"], opener({"t.sql": WHOLE.replace(b"(2,'y',", b"(2,y,")}))
    assert next(rows) == (1,)
    place = WHOLE.index(b"(2,'y',")
    with pytest.raises(DataError, match=rf"byte {place:,} of the SQL, \"?'?\(2,y,"):
        next(rows)


def test_a_dump_that_is_cut_anywhere_is_an_error() -> None:
    for end in range(1, len(WHOLE) - len(" on 2024-01-01  1:02:03\n")):
        with pytest.raises(DataError):
            read(WHOLE[:end])


def test_an_endless_row_is_not_held(monkeypatch) -> None:
    monkeypatch.setattr("wikipedia.dumps.sql_dump._MOST_BYTES", 1 << 20)
    with pytest.raises(DataError, match="a row or statement must end; none does"):
        of_values(b"(1,'" + b"x" * (1 << 22))


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


def check_round_trip(rows: list[tuple[Value, ...]], block: int) -> None:
    """Checks that written rows are read, wherever the blocks of the dump meet."""
    content = sql_dump("t", COLUMNS, *rows, in_insert=7)

    class Blocks(opener({"": b""})("", "rb").__class__):  # type: ignore[misc]  # a stream that gives little at a time
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size if size and size > 0 else block, block))

    assert [*read_rows("t.sql", "t", ["a", "b", "c"], lambda path, mode: Blocks(content))] == rows


@given(rows_drawn, st.integers(8, 400))
def test_rows_that_are_written_are_read(rows: list[tuple[Value, ...]], block: int) -> None:
    check_round_trip(rows, block)


@pytest.mark.long
@settings(max_examples=2_000)
@given(rows_drawn, st.integers(8, 400))
def test_rows_that_are_written_are_read_two_thousand_times(rows: list[tuple[Value, ...]], block: int) -> None:
    check_round_trip(rows, block)


@given(
    st.binary(max_size=200) | st.lists(scalars | st.sampled_from([b"(", b")", b",", b"1"]), max_size=9).map(b"".join)
)
def test_no_bytes_crash_or_hang_the_reader(rows: bytes) -> None:
    try:
        of_values(rows + b";")
    except DataError:
        pass


def test_quotes_without_end_take_no_longer_than_their_length() -> None:
    for nasty in (b"''" * 100_000, b"('" * 100_000, b"'\\" * 100_001, rows_of([(1, "'", 0.5)])[:-2] * 50_000):
        with pytest.raises(DataError):
            of_values(b"(1,'" + nasty)


@pytest.mark.parametrize(
    "number",
    [b"99999999999999999999", b"-9223372036854775809", b"18446744073709551616", b"0xffffffffffffffffff", b"9" * 5000],
)
def test_an_integer_of_more_than_64_bits_is_damage(number: bytes) -> None:
    with pytest.raises(DataError, match=r"t\.sql.*values must be of their columns' types"):
        of_values(b"(%s,'x',1.0);\n" % number)


def test_integers_of_64_bits_are_read() -> None:
    numbers = [2**64 - 1, -(2**63)]
    assert [row[0] for row in of_values(b"(%d,'x',1.0),(%d,'y',1.0);\n" % (*numbers,))] == numbers
