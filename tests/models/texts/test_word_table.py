"""models/texts/word_table.py: which words of a table are used, and what is said of the others."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.settings import WordTableSource
from models.texts.word_table import read_word_table
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.word_vectors import VectorReason
from tests.schemas.word_tables import glove, polyglot, write

pytestmark = pytest.mark.tensors

ENTRIES = {
    "<UNK>": [9.0, 9.0],
    "The": [1.0, 0.0],
    "the": [2.0, 0.0],
    "New\u00a0York": [3.0, 0.0],
    "--": [4.0, 0.0],
    "Straße": [5.0, 0.0],
    "ＦＯＸ": [6.0, 0.0],
    "l'été": [7.0, 0.0],
    "犬": [8.0, 0.0],
}


def source(path, **values):
    return WordTableSource(
        **{"sha256": "", "width": 2, "most_words": 100, "max_bad_share": 0.0, "train": True} | values, path=path
    )


def dropped(table):
    return {drops.reason.name.lower(): drops.count for drops in table.report.drops}


@pytest.mark.parametrize("form", [glove, polyglot])
def test_words_go_through_our_own_tokenisation_and_the_first_of_equals_is_kept(form, tmp_path):
    table = read_word_table(source(write(tmp_path / "table", form(ENTRIES))))
    assert table.words == ["the", "strasse", "fox", "犬"]
    assert table.vectors.tolist() == [[1, 0], [5, 0], [6, 0], [8, 0]]
    assert table.vectors.dtype == np.float32
    assert dropped(table) == {"mark": 1, "duplicate": 1, "several_tokens": 2, "no_token": 1}
    assert (table.report.read, table.report.used) == (9, 4)


def test_reading_stops_at_the_last_word_that_is_needed(tmp_path):
    path = write(tmp_path / "table", glove(ENTRIES) + b"bad\n" * 10_000)
    table = read_word_table(source(path, most_words=2))
    assert table.words == ["the", "strasse"]
    assert table.report.read == 6


def test_the_report_shows_the_first_of_what_is_left_out_with_its_line(tmp_path):
    path = write(tmp_path / "table", b"a 1 2\n" + b"b 1 nan\n" * 7 + b"c 3 4\n")
    (drops,) = read_word_table(source(path, max_bad_share=0.8)).report.drops
    assert (drops.reason, drops.count) == (VectorReason.NOT_FINITE, 7)
    assert drops.examples == tuple(Drop(VectorReason.NOT_FINITE, path, line, "b") for line in range(2, 7))


def test_too_many_bad_entries_stop_the_run_with_their_reasons_and_places(tmp_path):
    path = write(tmp_path / "table", b"a 1 2\nb 1\nc 1 x\n" + b"".join(b"w%c 1 2\n" % (97 + i) for i in range(17)))
    assert len(read_word_table(source(path, max_bad_share=0.1)).words) == 18
    with pytest.raises(DataError, match=rf"{path}: 2 of 20 .* 0.09 .*\n.*\n +{path}:2: b 1\n.*\n +{path}:3: c 1 x"):
        read_word_table(source(path, max_bad_share=0.09))


def test_a_table_without_a_usable_word_is_refused(tmp_path):
    path = write(tmp_path / "table", b"-- 1 2\n<s> 1 2\n")
    with pytest.raises(DataError, match="0 of 2 .*\n  1 x mark in angle brackets"):
        read_word_table(source(path))


@given(st.lists(st.sampled_from(["a", "A", "b", "c d", "-", "<s>", ""]), min_size=1), st.integers(1, 3))
def test_what_is_read_is_used_or_dropped(tmp_path_factory, words, max_words):
    entries = b"".join(f"{word} 1 2\n".encode() for word in ["z", *words])
    path = write(tmp_path_factory.getbasetemp() / "balance", entries)
    read_word_table.cache_clear()
    table = read_word_table(source(path, most_words=max_words, max_bad_share=1.0))
    report = table.report
    assert len(table.words) == len(table.vectors) == report.used <= max_words
    assert report.read == len(words) + 1 or report.used == max_words


@pytest.mark.parametrize("change", [b"the 1 3\n", b"a word 1 3\nmore\n"], ids=["in what is read", "in what is not"])
def test_a_table_that_is_not_the_one_that_was_hashed_is_refused(tmp_path, change):
    content = glove(ENTRIES)
    path = write(tmp_path / "table", content)
    hashed = source(path, most_words=1, sha256=hashlib.sha256(content).hexdigest())
    assert read_word_table(hashed).words == ["the"]
    read_word_table.cache_clear()
    write(tmp_path / "table", change + content if change.startswith(b"the") else content + change)
    with pytest.raises(DataError, match=f"{path} .*embeddings"):
        read_word_table(hashed)
