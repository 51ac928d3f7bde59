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


@settings(max_examples=12)
@given(words=WORDS)
def test_the_words_up_to_the_limit_have_their_ids_and_are_scored_whether_they_are_known_or_not(text_features, words):
    columns, is_scored = scored_words(text_features, tf.constant(words, tf.string))
    assert is_scored.numpy().tolist() == [number < LIMIT for number in range(len(words))]
    whole = text_features.of_documents(tf.constant([" ".join(words)]))
    for name, rows in columns.items():
        assert len(rows) == len(words)
        assert rows.flat_values.numpy().tolist() == whole[name].to_list()[0]
