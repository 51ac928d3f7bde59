"""models/lexicon/terms.py: the terms of texts, words or their stems, and their counts."""

from collections import Counter, defaultdict

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.lexicon import terms as subject
from models.lexicon.terms import TermCounter, term_of, terms_of
from models.texts.stems import stems
from models.texts.tokens import ALL_WORDS, tokenize
from schemas.word_rules import WordRules
from tests.models.lexicon.small_lexicon import RULES, terms

pytestmark = pytest.mark.tensors

WORDS = ["a", "Été", "été", "naïveté", "чехов", "\u0640", "b\u0301\u0301", "1984", "北京", "!"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS)).map(" ".join), max_size=4)


@settings(max_examples=8)
@given(TEXTS, st.sampled_from([WordRules(max_tokens=3), WordRules(max_tokens=5, segmented=True)]))
def test_terms_are_the_first_words_or_their_stems(texts, rules):
    words = tokenize(tf.constant(texts, tf.string), rules)
    assert terms_of(tf.constant(texts, tf.string), "bm25", "fr", rules).texts().to_list() == words.to_list()
    stem_terms = terms_of(tf.constant(texts, tf.string), "lexicon", "fr", rules)
    assert stem_terms.texts().to_list() == stems(words, "fr").to_list()


@pytest.mark.parametrize(
    ("kind", "distinct", "rows", "terms_of_words"),
    [  # tatweel alone is a word without a stem
        ("lexicon", ["b", "a", "c"], [[0, 1, 0], [2, 1]], ["naive", "", "1984"]),
        ("bm25", ["\u0640", "b", "a", "c"], [[0, 1, 2, 1], [3, 2]], ["naïveté", "\u0640", "1984"]),
    ],
)
def test_distinct_terms_stand_in_the_order_in_which_they_come_first(kind, distinct, rows, terms_of_words):
    text_terms = terms_of(tf.constant(["\u0640 b a b", "c a"]), kind, "fr", ALL_WORDS)
    assert [term.decode() for term in text_terms.distinct.numpy()] == distinct
    assert text_terms.indices.to_list() == rows
    word_terms = term_of(tf.constant(["naïveté", "\u0640", "1984"]), kind, "fr")
    assert [term.decode() for term in word_terms.numpy()] == terms_of_words


# Counts

COUNTED = st.lists(st.text("ab1 !Éé\u064e\u0640北", max_size=8), min_size=1, max_size=6)


@pytest.mark.parametrize("kind", ["lexicon", "bm25"])
@settings(max_examples=3)
@given(COUNTED, COUNTED)
def test_counts_are_those_of_each_text_s_terms(kind, first, second):
    counter = TermCounter(kind, RULES, [b"met before"])
    for texts in (first, second):
        counts = counter.count(texts, "fr")
        rows = [
            {counter.terms[column].decode(): int(number) for column, number in zip(row.indices, row.data, strict=True)}
            for row in counts
        ]
        assert rows == [Counter(text) for text in terms(texts, "fr", kind)]
    assert counter.terms[0] == b"met before"


@given(COUNTED)
def test_the_commonest_words_of_a_stem_are_its_three_most_frequent(texts):
    counter, occurrences = TermCounter("lexicon", RULES), Counter()
    counter.count(texts, "fr", occurrences)
    assert occurrences == Counter(word for text in terms(texts, "fr", "bm25") for word in map(str.encode, text))
    words_of = defaultdict(list)
    for word in sorted(occurrences, key=lambda word: (-occurrences[word], word)):
        if stem := term_of(tf.constant([word]), "lexicon", "fr").numpy()[0]:
            words_of[stem].append(word)
    expected = {stem: words[:3] for stem, words in words_of.items() if words[:3] != [stem]}
    shown = counter.commonest_words("fr", occurrences)
    assert shown == [(stem, word) for stem in sorted(expected) for word in expected[stem]]


def test_a_word_is_stemmed_once(monkeypatch):
    stemmed = []
    plain = subject.term_of
    monkeypatch.setattr(
        subject, "term_of", lambda words, *arguments: stemmed.extend(words.numpy().tolist()) or plain(words, *arguments)
    )
    counter = TermCounter("lexicon", RULES)
    for texts in (["Loup loup nationale"], ["Nationale nation"]):
        counter.count(texts, "fr")
    assert stemmed == [b"loup", b"nationale", b"nation"]
    assert counter.terms == [b"loup", b"natio"]
