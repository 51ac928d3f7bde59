"""models/lexicon/tf_idf.py: the cosine of weighted words, against loops."""

from math import log

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.lexicon.reference import Reference
from tests.models.lexicon.small_lexicon import COLLECTIONS, join, learn, make_channel, scores

pytestmark = pytest.mark.tensors

TEXTS = st.lists(st.lists(st.sampled_from("abcdexy"), max_size=6), min_size=1, max_size=4)


def tf_idf(collection):
    return make_channel(learn([], collection, "tfidf"))


def test_score_by_hand():
    # Of two documents both hold a and one holds b; x is unknown.
    a, b, x = log(3 / 2.5), log(3 / 1.5), log(3 / 0.5)
    expected = 2 * a * a / np.hypot(a, b) / np.hypot(2 * a, x)
    np.testing.assert_allclose(scores(tf_idf([["a", "b"], ["a"]]), ["a b"], ["a a x"]), [[expected]], rtol=1e-6)


@settings(max_examples=8)
@given(COLLECTIONS, TEXTS, TEXTS)
def test_scores_are_those_of_the_loops_and_their_parts_are_of_shared_words(collection, queries, documents):
    channel, reference = tf_idf(collection), Reference(collection)
    values = scores(channel, join(queries), join(documents))
    expected = [[reference.cosine(query, document) for document in documents] for query in queries]
    np.testing.assert_allclose(values, expected, atol=1e-6)
    low, high = channel.score_range
    assert (values >= low).all() and (values <= high + 1e-6).all()
    parts = channel.parts(*map(tf.constant, join([queries[0], documents[0]])))
    assert parts.part.numpy().sum() == pytest.approx(values[0, 0], abs=1e-5)
    assert {*parts.query_term.numpy()} == {word.encode() for word in {*queries[0]} & {*documents[0]}}


def test_words_are_translated_to_themselves():
    columns = tf_idf([["a"]]).translations(tf.constant(["b a b", "a"]))
    assert [column.numpy().tolist() for column in columns] == [[b"b", b"a"], [b"b", b"a"], [1, 1]]
