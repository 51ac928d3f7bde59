"""Texts as numbers of their words, against the tokens of each text."""

from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from components.transform import numbered_lists as subject
from components.transform.numbered_lists import NumberedTexts
from models.lists import mapped_rows
from models.texts.tokens import tokenize
from schemas.cut_texts import CutTexts
from schemas.word_rules import WordRules

pytestmark = pytest.mark.tensors

RULES = WordRules(max_tokens=3)
TEXTS = st.lists(st.text("ab1 !É北", max_size=8), max_size=12)


@pytest.fixture(scope="module", autouse=True)
def _small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped_rows, "_ROWS_OF_A_BLOCK", 2)
        yield


def tokens(text):
    return tokenize(tf.constant([text]), RULES)[0].numpy().tolist()


@settings(max_examples=8)
@given(TEXTS, TEXTS)
def test_ids_are_those_of_each_text_s_tokens_and_counts_their_number(first, second):
    texts = NumberedTexts(RULES)
    rows = np.concatenate([texts.rows([text.encode() for text in part]) for part in (first, second)])
    every = [*first, *second]
    assert len(set(rows.tolist())) == len(set(every))
    counts = dict(zip(texts.words, texts.counts(rows).tolist(), strict=True))
    assert counts == Counter(token for text in every for token in tokens(text))
    id_of = {word: number - 1 for number, word in enumerate(sorted(texts.words))}  # the first has none
    ids = texts.ids(np.array([id_of[word] for word in texts.words], np.int32))
    assert ids.select(rows).tensor().to_list() == [
        [id_of[token] for token in tokens(text) if id_of[token] >= 0] for text in every
    ]


def test_what_the_limit_cuts_is_counted_once_for_each_distinct_text():
    texts = NumberedTexts(RULES)
    for batch in ([b"a b c d", b"a", "ไทยไทยไทยไทยไทย".encode()], [b"a b c d", b"", b"a b c d e"]):
        texts.rows(batch)
    # Of 14 Thai pairs nine count for three words.
    assert texts.cut == CutTexts(texts=5, cut_texts=3, words=4 + 1 + 14 + 5, cut_words=1 + 5 + 2)
    assert texts.counts(np.arange(5)).sum() == texts.cut.words - texts.cut.cut_words


def test_a_text_that_is_met_again_is_not_tokenised_again(monkeypatch):
    tokenised = []
    plain = subject.distinct_words
    monkeypatch.setattr(subject, "distinct_words", lambda texts, rules: tokenised.extend(texts) or plain(texts, rules))
    texts = NumberedTexts(RULES)
    assert texts.rows([b"a b", b"c", b"a b"]).tolist() == [0, 1, 0]
    assert texts.rows([b"c", b"d"]).tolist() == [1, 2]
    assert tokenised == [b"a b", b"c", b"d"]
    assert texts.counts(np.array([0, 1, 0, 1, 2])).tolist() == [2, 2, 2, 1]
