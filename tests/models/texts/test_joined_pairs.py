"""Pairs of characters joined to words, against the pairs that the tokenizer makes of these words."""

from collections import Counter
from collections.abc import Sequence
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


def tokens(texts: Sequence[str]) -> list[list[str]]:
    return [[one.decode() for one in of_text] for of_text in tokenize(tf.constant(texts, tf.string)).to_list()]


@st.composite
def weighted_words(draw: st.DrawFn) -> list[tuple[str, float]]:
    """Distinct pairs of characters of one group of scripts, single ones, and other words, each with a weight."""
    pairs = [first + second for group in (KANA, SYLLABIC) for first, second in product(group, repeat=2)]
    words = draw(st.lists(st.sampled_from([*pairs, *KANA, *SYLLABIC, *WORDS]), unique=True))
    return [(word, draw(WEIGHTS)) for word in words]


@pytest.mark.stages
@settings(max_examples=60)
@given(weighted_words())
def test_texts_consist_of_exactly_the_pairs_each_once_and_come_best_first(words: list[tuple[str, float]]) -> None:
    joined = join_pairs(words)
    weights = [one.weight for one in joined]
    assert weights == sorted(weights, reverse=True)
    weight_of = dict(words)
    of_texts = tokens([one.text for one in joined])
    assert Counter(token for of_text in of_texts for token in of_text) == Counter(weight_of.keys())
    for of_text, weight in zip(of_texts, weights, strict=True):
        assert weight == max(weight_of[token] for token in of_text)
        assert all(are_similar(weight_of[one], weight_of[other]) for one, other in pairwise(of_text))


@pytest.mark.stages
@settings(max_examples=60)
@given(st.dictionaries(st.text("ァイガラ", min_size=2, max_size=2), WEIGHTS))
def test_no_two_texts_could_be_joined_to_a_longer_one(weight_of: dict[str, float]) -> None:
    for one, other in permutations(join_pairs([*weight_of.items()]), 2):
        last, first = one.text[-2:], other.text[:2]
        assert last[1] != first[0] or not are_similar(weight_of[last], weight_of[first])


def are_similar(weight: float, other: float) -> bool:
    return max(weight, other) <= 2 * min(weight, other)


def texts(*words: tuple[str, float]) -> list[tuple[str, float]]:
    return [tuple(one) for one in join_pairs(words)]


def test_neighbouring_weights_may_differ_by_a_factor_of_two_and_no_more() -> None:
    assert texts(("ファ", 0.4), ("ァイ", 0.2), ("イル", 0.1)) == [("ファイル", 0.4)]
    assert texts(("ファ", 0.4), ("ァイ", 0.19), ("イル", 0.1)) == [("ファ", 0.4), ("ァイル", 0.19)]


def test_the_best_pair_takes_the_best_of_those_that_fit_it() -> None:
    assert texts(("イル", 0.2), ("ァイ", 0.3), ("イン", 0.25)) == [("ァイン", 0.3), ("イル", 0.2)]
    assert texts(("イル", 0.3), ("ァイ", 0.2), ("キイ", 0.25)) == [("キイル", 0.3), ("ァイ", 0.2)]


def test_a_pair_that_begins_as_it_ends_is_in_its_text_once() -> None:
    assert texts(("パパ", 0.3)) == [("パパ", 0.3)]
    assert texts(("パパ", 0.3), ("パイ", 0.3)) == [("パパイ", 0.3)]
    assert texts(("パイ", 0.3), ("イパ", 0.3)) == [("パイパ", 0.3)]


def test_characters_stay_with_their_marks() -> None:
    assert texts(("ที่นี่", 0.2), ("นี่ย", 0.2)) == [("ที่นี่ย", 0.2)]


def test_words_that_are_no_pairs_stay_alone_and_none_give_none() -> None:
    assert texts(("loup", 0.2), ("up", 0.2), ("北", 0.3), ("京", 0.3), ("ァ", 0.1)) == [
        ("北", 0.3),
        ("京", 0.3),
        ("loup", 0.2),
        ("up", 0.2),
        ("ァ", 0.1),
    ]
    assert join_pairs([]) == []
