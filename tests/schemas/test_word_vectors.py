"""schemas/word_vectors.py: every format and compression, and what is wrong with a table."""

import bz2
import gzip
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import byte_streams
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.word_vectors import VectorReason, WordVector, read_word_vectors
from tests.schemas.word_tables import glove, polyglot, python_2_polyglot, word2vec, write

VECTORS = {
    ". . .": [4.5, 1.0],
    "the": [0.5, -1.0],
    "été": [1e-3, 2.0],
    "New\u00a0York": [3.0, 4.0],
    "全\u3000角": [5.0, 6.0],
    ",": [0.0, 7.0],
}
FORMATS = {"glove": glove, "word2vec": word2vec, "polyglot": polyglot, "python_2_polyglot": python_2_polyglot}


@pytest.fixture
def read(tmp_path):
    """Reads content as a table of width 2: the list of entries."""
    return lambda content, width=2: list(read_word_vectors(write(tmp_path / "table", content), width))


def as_dict(entries):
    return {entry.word: entry.vector.tolist() for entry in entries}


def rounded(vectors):
    return {word: np.float32(vector).tolist() for word, vector in vectors.items()}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised_by_its_content_and_words_keep_their_no_break_spaces(read, name, pack):
    entries = read(pack(FORMATS[name](VECTORS)))
    assert as_dict(entries) == rounded(VECTORS)
    assert list(as_dict(entries)) == list(VECTORS)
    assert all(entry.vector.dtype == np.float32 for entry in entries)


def test_windows_line_ends_and_a_byte_order_mark_are_taken_off(read):
    assert as_dict(read(b"\xef\xbb\xbf" + word2vec(VECTORS).replace(b"\n", b"\r\n"))) == rounded(VECTORS)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *((b"the 1", VectorReason.WRONG_WIDTH), (b"the 1 2 3", VectorReason.WRONG_WIDTH)),
        *((b"", VectorReason.WRONG_WIDTH), (b"the\t1\t2", VectorReason.WRONG_WIDTH)),
        *((b"the 1 x", VectorReason.NOT_A_NUMBER), (b"the 1  2", VectorReason.WRONG_WIDTH)),
        *((b"the 1 nan", VectorReason.NOT_FINITE), (b"the -inf 1", VectorReason.NOT_FINITE)),
        *((b"the 1 1e39", VectorReason.NOT_FINITE), (b"caf\xe9 1 2", VectorReason.BAD_UTF8)),
        *((b" 1 2", VectorReason.NO_WORD), (b"x" * 1001 + b" 1 2", VectorReason.TOO_LONG)),
        *((b"<UNK> 1 2", VectorReason.MARK), (b"</s> 1 2", VectorReason.MARK)),
    ],
)
def test_a_bad_line_costs_only_itself_and_is_reported_with_its_place(read, line, reason):
    before, bad, after = read(b"a 1 2\n" + line + b"\nb 3 4\n")
    assert (before.word, after.word) == ("a", "b")
    assert (type(bad), bad.reason, bad.line) == (Drop, reason, 2)
    assert len(bad.excerpt) <= 81


def test_a_line_that_is_too_long_is_not_held(read):
    first, bad = read(b"a 1 2\n" + b"1" * ((1 << 24) + 1) + b"\n")
    assert (first.word, bad.reason, bad.line) == ("a", VectorReason.TOO_LONG, 2)


@pytest.mark.parametrize("content", [word2vec({"a": [1.0] * 3}), polyglot({"a": [1.0] * 3})])
def test_a_table_of_another_width_says_which_it_has(read, content):
    with pytest.raises(DataError, match=r" 2 .*channels.towers.embedding_dim.* 3"):
        read(content)
    assert [drop.reason for drop in read(polyglot({"\ud800": [1.0, 2.0]}))] == [VectorReason.BAD_UTF8]


@pytest.mark.parametrize(
    ("header", "drops"), [(b"1000000000000 2", 0), (b"9" * 5000 + b" 2", 1), (b"1 " + b"9" * 5000, 1)]
)
def test_a_header_costs_no_memory_whatever_its_numbers(read, header, drops):
    tracemalloc.start()
    *bad, entry = read(header + b"\na 1 2\n")
    assert (entry.word, [drop.reason for drop in bad]) == ("a", [VectorReason.WRONG_WIDTH] * drops)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()


def test_a_table_is_read_no_further_than_it_is_asked(tmp_path):
    path = write(tmp_path / "table", b"a 1 2\n" * 100_000)
    tracemalloc.start()
    next(read_word_vectors(path, 2))
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("name", ["word2vec", "polyglot"])
def test_an_archive_that_is_cut_off_is_an_error_of_the_data(read, name, pack):
    content = pack(FORMATS[name](VECTORS))
    with pytest.raises(DataError, match="table"):
        read(content[:-20])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_an_archive_that_unpacks_to_far_more_than_its_size_is_not_read_on(read, pack, monkeypatch):
    monkeypatch.setattr(byte_streams, "_ALWAYS_ALLOWED", 1 << 16)
    content = pack((b"a" * 1000 + b" 1 2\n") * 3000)
    assert len(content) * byte_streams.MAX_EXPANSION < 3_000_000
    with pytest.raises(DataError, match="table.* 200 times"):
        read(content)


WORDS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters=" \n\r\ufeff"), min_size=1, max_size=8
).filter(lambda word: not (word[0] == "<" and word[-1] == ">"))
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.dictionaries(WORDS, st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20), st.sampled_from([glove, word2vec]))
def test_a_table_written_as_text_is_read_back(tmp_path_factory, vectors, form):
    path = write(tmp_path_factory.getbasetemp() / "round_trip", form({word: list(v) for word, v in vectors.items()}))
    assert as_dict(read_word_vectors(path, 2)) == {word: list(vector) for word, vector in vectors.items()}


@given(st.lists(st.sampled_from([b"a 1 2", b"a 1", b"a 1 x", b"\xff 1 2", b"a nan 1", b""]), max_size=20))
def test_every_line_is_one_entry(tmp_path_factory, lines):
    path = write(tmp_path_factory.getbasetemp() / "lines", b"".join(line + b"\n" for line in [*lines, b"last"]))
    entries = list(read_word_vectors(path, 2))
    assert [entry.line for entry in entries] == list(range(1, len(lines) + 2))
    assert Counter(map(type, entries))[WordVector] == lines.count(b"a 1 2")
