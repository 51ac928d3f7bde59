"""models/lexicon/lexicon_channel.py: terms to numbers and back."""

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.lexicon import lexicon_channel as subject
from models.lexicon.lexicon_channel import Vocabulary

pytestmark = pytest.mark.tensors

WORDS = st.binary(max_size=4)


@given(st.lists(WORDS, min_size=1, unique=True), st.lists(WORDS))
def test_known_terms_have_numbers_of_their_own_and_others_none(terms, words):
    vocabulary = Vocabulary(terms)
    numbers = vocabulary.numbers(tf.constant(terms)).numpy()
    assert sorted(numbers) == list(range(len(terms)))
    assert vocabulary.terms(numbers).numpy().tolist() == terms
    assert [terms[row] for row in vocabulary.order] == vocabulary.terms(tf.range(len(terms))).numpy().tolist()
    word_numbers = vocabulary.numbers(tf.constant(words, tf.string)).numpy()
    assert [number == -1 for number in word_numbers] == [word not in terms for word in words]


def test_of_two_terms_with_one_fingerprint_one_is_unknown(monkeypatch):
    monkeypatch.setattr(subject, "_BUCKETS", 2)
    terms = [b"a", b"b", b"c", b"d", b"e"]
    vocabulary = Vocabulary(terms)
    numbers = vocabulary.numbers(tf.constant(terms))
    known = [number for number in numbers.numpy() if number >= 0]
    assert 1 <= len(known) <= 2
    assert {*vocabulary.terms(known).numpy()} == {
        term for term, number in zip(terms, numbers.numpy(), strict=True) if number >= 0
    }
