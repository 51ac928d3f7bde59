"""Counts of terms, against those of each text's terms."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.lexicon import terms as term_counter
from models.lexicon.terms import TermCounter
from tests.models.lexicon.small_lexicon import MAX_TOKENS, terms

TEXTS = st.lists(st.text("ab1 !Éé\u064e北", max_size=8), min_size=1, max_size=6)


@pytest.mark.parametrize("kind", ["lexicon", "bm25"])
@given(TEXTS, TEXTS)
def test_counts_are_those_of_each_text_s_terms(kind, first, second):
    counter = TermCounter(kind, MAX_TOKENS, [b"met before"])
    for texts in (first, second):
        found = counter.count(texts, "fr")
        rows = [
            {counter.terms[column].decode(): int(number) for column, number in zip(row.indices, row.data, strict=True)}
            for row in found
        ]
        assert rows == [Counter(text) for text in terms(texts, "fr", kind)]
    assert counter.terms[0] == b"met before"


def test_a_word_is_stemmed_once(monkeypatch):
    stemmed = []
    plain = term_counter.term_of
    monkeypatch.setattr(
        term_counter, "term_of", lambda words, *rest: stemmed.extend(words.numpy().tolist()) or plain(words, *rest)
    )
    counter = TermCounter("lexicon", MAX_TOKENS)
    for texts in (["Loup loup nationale"], ["Nationale nation"]):
        counter.count(texts, "fr")
    assert stemmed == [b"loup", b"nationale", b"nation"]
    assert counter.terms == [b"loup", b"natio"]
