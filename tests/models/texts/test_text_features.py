"""The limit on a document's length, as the transformation has it."""

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.texts.text_features import scored_words
from schemas.word_rules import WordRules
from tests.models.small_model import small_text_features

pytestmark = pytest.mark.tensors

LIMIT = 3
WORDS = st.lists(st.sampled_from(["chat", "blanc", "chiens", "un", "zzz", "mot"]), max_size=6)
"""`chiens` is known by its stem alone, `un` as a word alone; the last two not at all."""


@pytest.fixture(scope="module", params=[False, True], ids=["words", "with stems"])
def text_features(request, tmp_path_factory):
    return small_text_features(tmp_path_factory.mktemp("words"), request.param, WordRules(max_tokens=LIMIT))


@pytest.fixture(scope="module")
def word_columns(text_features):
    """A graph of the function, which would else be traced at each call."""
    spec = [tf.TensorSpec([None], tf.string)]
    return tf.function(lambda words: scored_words(text_features, words), input_signature=spec)


@settings(max_examples=12)
@given(words=WORDS)
def test_the_words_up_to_the_limit_have_their_ids_and_are_scored_whether_they_are_known_or_not(
    text_features, word_columns, words
):
    columns, is_scored = word_columns(tf.constant(words, tf.string))
    assert is_scored.numpy().tolist() == [number < LIMIT for number in range(len(words))]
    whole = text_features.document_columns(tf.constant([" ".join(words)]))
    for name, column in columns.items():
        rows = column.to_list()
        assert len(rows) == len(words)
        assert sum(rows, []) == whole[name].to_list()[0]
