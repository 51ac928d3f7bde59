"""Distinct words and batches of texts, against the tokenizer and plain Python."""

from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.texts import word_counts
from models.texts.tokens import tokenize
from models.texts.word_counts import DistinctWords, distinct_words, text_batches
from schemas.word_rules import ALL, WordRules
from tests.models.texts.every_character import every_character

pytestmark = pytest.mark.tensors

# Spaces, and what joins or parts beside them.
texts = st.lists(st.text() | st.text(alphabet=" \u00a0\u0301\u0345éß½ﷺΣ1a北がกข\uff9e'-"), max_size=6)

RULES = st.builds(WordRules, max_tokens=st.sampled_from([ALL, 2]), segmented=st.booleans())


def words_of_texts(distinct: DistinctWords) -> list[list[bytes]]:
    """The words of each text."""
    ends = distinct.row_splits.tolist()
    words = [distinct.words[row] for row in distinct.indices.tolist()]
    return [words[start:end] for start, end in zip(ends, ends[1:], strict=False)]


@given(texts, RULES, st.sampled_from([0, 1 << 29]))
def test_words_of_each_text_are_those_of_the_tokenizer_however_long_all_are(texts, rules, characters):
    expected = tokenize(tf.constant(texts, tf.string), rules).to_list()
    whole = tokenize(tf.constant(texts, tf.string), WordRules(segmented=rules.segmented))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "_CHARACTERS", characters)
        distinct = distinct_words(texts, rules)
    assert words_of_texts(distinct) == expected
    assert distinct.row_splits.dtype == np.int64
    assert distinct.whole_lengths.tolist() == whole.row_lengths().numpy().tolist()
    assert distinct.words == list(dict.fromkeys(sum(expected, [])))  # once each, in the order in which they come first


def test_space_parts_words_whatever_character_stands_beside_it():
    texts = [f"a{sign} b {sign}\u0301c {sign} 1" for sign in every_character()]
    assert words_of_texts(distinct_words(texts)) == tokenize(tf.constant(texts)).to_list()


def test_bytes_that_are_no_utf8_are_words_as_in_the_tokenizer():
    texts = [b"a\xe2 \x82\xac b\xff c", b"\xc3\xa9 \xc3"]
    assert words_of_texts(distinct_words(texts)) == tokenize(tf.constant(texts)).to_list()


@given(texts, st.integers(0, 3))
def test_counts_are_those_of_each_text_in_the_columns_that_are_asked_for(texts, width):
    distinct = distinct_words(texts)
    columns = np.array([row % (width + 1) - 1 for row in range(len(distinct.words))], np.int32)
    counts = distinct.counts(columns, width)
    assert counts.shape == (len(texts), width) and counts.has_sorted_indices
    column_of = {word: column for word, column in zip(distinct.words, columns.tolist(), strict=True) if column >= 0}
    expected = [Counter(column_of[word] for word in words if word in column_of) for words in words_of_texts(distinct)]
    assert [dict(zip(row.indices, row.data, strict=True)) for row in counts] == expected
    assert distinct.lengths.tolist() == [*map(len, words_of_texts(distinct))]


@given(st.lists(st.binary(max_size=4)), st.integers(1, 9))
def test_batches_hold_all_texts_in_order_and_are_full_but_not_over_full(texts, length):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "_LENGTH", length)
        batches = list(text_batches(texts))
    assert [text for batch in batches for text in batch] == texts
    assert all(batch and sum(map(len, batch[:-1])) < length for batch in batches)
    assert all(sum(map(len, batch)) >= length for batch in batches[:-1])
