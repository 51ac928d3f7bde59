"""Pairs of characters joined to words, against the pairs that the tokenizer makes of these words."""

from itertools import pairwise, permutations, product

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.texts.joined_pairs import join_pairs
from models.texts.tokens import tokenize

pytestmark = pytest.mark.tensors

KANA = ["ァ", "イ", "ガ", "ラー"]
SYLLABIC = ["ก็", "ที่", "ย", "က်"]
WORDS = ["file", "1984", "北"]
WEIGHTS = st.sampled_from([0.4, 0.2, 0.19, 0.1, 0.05, 0.005])


@st.composite
def weighted_words(draw):
    """Distinct pairs of characters of one group of scripts, single ones, and other words, each with a weight."""
    pairs = [first + second for group in (KANA, SYLLABIC) for first, second in product(group, repeat=2)]
    words = draw(st.lists(st.sampled_from([*pairs, *KANA, *SYLLABIC, *WORDS]), unique=True))
    return [(word, draw(WEIGHTS)) for word in words]


@settings(max_examples=30)
@given(weighted_words())
def test_texts_consist_of_exactly_the_pairs_each_once_and_come_best_first(words):
    joined = join_pairs(words)
    weights = [text.weight for text in joined]
    assert weights == sorted(weights, reverse=True)
    weight_of = {word.encode(): weight for word, weight in words}
    text_words = tokenize(tf.constant([text.text for text in joined], tf.string)).to_list()
    assert sorted(sum(text_words, [])) == sorted(weight_of)
    for tokens, weight in zip(text_words, weights, strict=True):
        assert weight == max(weight_of[token] for token in tokens)
        assert all(are_similar(weight_of[token], weight_of[after]) for token, after in pairwise(tokens))


@given(st.dictionaries(st.text("ァイガラ", min_size=2, max_size=2), WEIGHTS))
def test_no_two_texts_could_be_joined_to_a_longer_one(weight_of):
    for text, after in permutations(join_pairs([*weight_of.items()]), 2):
        last, first = text.text[-2:], after.text[:2]
        assert last[1] != first[0] or not are_similar(weight_of[last], weight_of[first])


def are_similar(weight, second):
    return max(weight, second) <= 2 * min(weight, second)


def texts(*words):
    return [tuple(text) for text in join_pairs(words)]


def test_neighbouring_weights_may_differ_by_a_factor_of_two_and_no_more():
    assert texts(("ファ", 0.4), ("ァイ", 0.2), ("イル", 0.1)) == [("ファイル", 0.4)]
    assert texts(("ファ", 0.4), ("ァイ", 0.19), ("イル", 0.1)) == [("ファ", 0.4), ("ァイル", 0.19)]


def test_the_best_pair_takes_the_best_of_those_that_fit_it():
    assert texts(("イル", 0.2), ("ァイ", 0.3), ("イン", 0.25)) == [("ァイン", 0.3), ("イル", 0.2)]
    assert texts(("イル", 0.3), ("ァイ", 0.2), ("キイ", 0.25)) == [("キイル", 0.3), ("ァイ", 0.2)]


def test_a_pair_that_begins_as_it_ends_is_in_its_text_once():
    assert texts(("パパ", 0.3)) == [("パパ", 0.3)]
    assert texts(("パパ", 0.3), ("パイ", 0.3)) == [("パパイ", 0.3)]
    assert texts(("パイ", 0.3), ("イパ", 0.3)) == [("パイパ", 0.3)]


def test_characters_stay_with_their_marks():
    assert texts(("ที่นี่", 0.2), ("นี่ย", 0.2)) == [("ที่นี่ย", 0.2)]


def test_words_that_are_no_pairs_stay_alone_and_none_give_none():
    words = [("loup", 0.2), ("up", 0.2), ("北", 0.3), ("京", 0.3), ("ァ", 0.1)]
    assert texts(*words) == [("北", 0.3), ("京", 0.3), ("loup", 0.2), ("up", 0.2), ("ァ", 0.1)]
    assert join_pairs([]) == []
