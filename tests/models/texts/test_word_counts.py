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

RULES = st.builds(WordRules, max_tokens=st.sampled_from([ALL, 1, 2, 5]), segmented=st.booleans())


def of_texts(found: DistinctWords) -> list[list[bytes]]:
    """The words of each text."""
    ends = found.row_splits.tolist()
    words = [found.words[place] for place in found.places.tolist()]
    return [words[start:end] for start, end in zip(ends, ends[1:], strict=False)]


@given(texts, RULES, st.sampled_from([0, 1 << 29]))
def test_words_of_each_text_are_those_of_the_tokenizer_however_long_all_are(some, rules, characters):
    expected = tokenize(tf.constant(some, tf.string), rules).to_list()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "_CHARACTERS", characters)
        found = distinct_words(some, rules)
    assert of_texts(found) == expected
    assert found.row_splits.dtype == np.int64
    assert found.whole_lengths.tolist() == [
        *map(len, tokenize(tf.constant(some, tf.string), WordRules(segmented=rules.segmented)).to_list())
    ]


@given(texts, RULES)
def test_words_stand_once_each_in_the_order_in_which_they_come_first(some, rules):
    found = distinct_words(some, rules)
    assert found.words == list(dict.fromkeys(word for words in of_texts(found) for word in words))


@pytest.mark.stages
def test_space_parts_words_whatever_character_stands_beside_it():
    some = [f"a{one} b {one}\u0301c {one} 1" for one in every_character()]
    assert of_texts(distinct_words(some)) == tokenize(tf.constant(some)).to_list()


def test_bytes_that_are_no_utf8_are_words_as_in_the_tokenizer():
    some = [b"a\xe2 \x82\xac b\xff c", b"\xc3\xa9 \xc3"]
    assert of_texts(distinct_words(some)) == tokenize(tf.constant(some)).to_list()


@given(texts, st.integers(0, 3))
def test_counts_are_those_of_each_text_in_the_columns_that_are_asked_for(some, width):
    found = distinct_words(some)
    columns = np.array([place % (width + 1) - 1 for place in range(len(found.words))], np.int32)
    counts = found.counts(columns, width)
    assert counts.shape == (len(some), width) and counts.has_sorted_indices
    of_column = {word: column for word, column in zip(found.words, columns.tolist(), strict=True) if column >= 0}
    expected = [Counter(of_column[word] for word in words if word in of_column) for words in of_texts(found)]
    assert [dict(zip(row.indices, row.data, strict=True)) for row in counts] == expected
    assert found.lengths.tolist() == [*map(len, of_texts(found))]


@given(st.lists(st.binary(max_size=4)), st.integers(1, 9))
def test_batches_hold_all_texts_in_order_and_are_full_but_not_over_full(texts, length):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "_LENGTH", length)
        batches = list(text_batches(texts))
    assert [text for batch in batches for text in batch] == texts
    assert all(batch and sum(map(len, batch[:-1])) < length for batch in batches)
    assert all(sum(map(len, batch)) >= length for batch in batches[:-1])
