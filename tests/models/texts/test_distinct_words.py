"""The distinct words of texts: those of the tokenizer, each once."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.texts.tokens import tokenize
from models.texts.word_counts import DistinctWords, distinct_words

# Spaces, and what joins or parts beside them.
texts = st.lists(st.text() | st.text(alphabet=" \u00a0\u0301\u0345éß½ﷺΣ1a北が\uff9e'-"), max_size=6)


def of_texts(found: DistinctWords) -> list[list[bytes]]:
    """The words of each text."""
    ends = found.row_splits.tolist()
    words = [found.words[place] for place in found.places.tolist()]
    return [words[start:end] for start, end in zip(ends, ends[1:], strict=False)]


@given(texts, st.sampled_from([None, 1, 2, 5]), st.sampled_from([0, 1 << 29]))
def test_words_of_each_text_are_those_of_the_tokenizer_however_long_all_are(some, max_tokens, characters):
    expected = tokenize(tf.constant(some, tf.string), max_tokens).to_list()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.texts.word_counts._CHARACTERS", characters)
        found = distinct_words(some, max_tokens)
    assert of_texts(found) == expected
    assert found.row_splits.dtype == np.int64


@given(texts, st.sampled_from([None, 1, 2, 5]))
def test_words_stand_once_each_in_the_order_in_which_they_come_first(some, max_tokens):
    found = distinct_words(some, max_tokens)
    assert found.words == list(dict.fromkeys(word for words in of_texts(found) for word in words))


def test_space_parts_words_whatever_character_stands_beside_it():
    some = [
        f"a{chr(code)} b {chr(code)}\u0301c {chr(code)} 1"
        for code in [*range(0x32000), *range(0x32000, 0x110000, 64)]  # as in the tokenizer's own test
        if not 0xD800 <= code < 0xE000
    ]
    assert of_texts(distinct_words(some)) == tokenize(tf.constant(some)).to_list()


def test_bytes_that_are_no_utf8_are_words_as_in_the_tokenizer():
    some = [b"a\xe2 \x82\xac b\xff c", b"\xc3\xa9 \xc3"]
    assert of_texts(distinct_words(some)) == tokenize(tf.constant(some)).to_list()
