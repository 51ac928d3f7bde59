"""The words of segmented texts: white space alone parts them."""

import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.texts.token_offsets import tokenize_with_offsets
from models.texts.tokens import tokenize, word_parts
from schemas.word_characters import PARTS
from schemas.word_rules import WordRules
from tests.models.texts.every_character import every_character

pytestmark = pytest.mark.tensors

RULES = WordRules(segmented=True)
SPACES = [
    " ",
    "  ",
    "\t",
    "\n",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\u200b",
    " \u200b ",
    "\r\n",
    "\uffff",
    "\ufdd0\U0010fffe",
]
WORDS = "แมว กา กิน 北京 大学 ひらがな l'été 10² mp3 c++ well-known ß İ a\u0301 ½".split()

parted = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)), max_size=8)


def words(text, **rules):
    return [word.decode() for word in tokenize(tf.constant([text]), WordRules(segmented=True, **rules))[0].numpy()]


@given(parted)
def test_the_words_are_the_users_whatever_white_space_parts_them(pieces):
    alone = [words(word) for word, _ in pieces]
    assert {*map(len, alone)} <= {1}
    assert words("".join(word + space for word, space in pieces)) == sum(alone, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("แมว กิน  ปลา", ["แมว", "กิน", "ปลา"]),
        ("北京 大学 的 学生", ["北京", "大学", "的", "学生"]),
        ("L'Été 10² MP3 ＡＢ", ["l'été", "102", "mp3", "ab"]),
        ("1½ don't İstanbul", ["11⁄2", "don't", "istanbul"]),
        ("soft\u00adhyphen ｶﾞ ﷺ", ["softhyphen", "ガ", "صلىاللهعليهوسلم"]),
    ],
)
def test_words_are_normalised_and_stay_whole(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("«How», they asked, (do) bees …?!", ["how", "they", "asked", "do", "bees"]),
        ("c++ c# .net -1 a.b.", ["c++", "c", "net", "1", "a.b"]),
        ("- + = ❤ \u0301 ¨ , แมว", ["แมว"]),
        ("\u0301a ¨b '\u0301c", ["a", "b", "c"]),
        ("", []),
        (" \n\u200b", []),
    ],
)
def test_punctuation_around_words_and_words_without_letter_or_digit_are_dropped(text, expected):
    assert words(text) == expected


def test_every_word_counts_as_one_in_every_script():
    text = "แมว กิน 北京 大学 ひらがな mp3"
    assert words(text, max_tokens=4) == ["แมว", "กิน", "北京", "大学"]
    assert word_parts(tf.constant(words(text)), RULES).numpy().tolist() == [PARTS] * 6


def is_border(character):
    return unicodedata.category(character) in ("Zs", "Zl", "Zp", "Cc") or character == "\u200b"


def test_white_space_and_controls_part_words_and_no_other_character_does():
    characters = every_character()
    text_words = tokenize(tf.constant([f"x{character}y" for character in characters]), RULES)
    assert text_words.row_lengths().numpy().tolist() == [1 + is_border(character) for character in characters]
    distinct = tf.unique(text_words.flat_values)[0]
    assert tokenize(distinct, RULES).to_list() == [[word] for word in distinct.numpy().tolist()]


def located(text):
    """(words, the text at the place of each, and the places, in bytes)."""
    columns = tokenize_with_offsets(tf.constant(text), RULES)
    offsets = [*zip(columns.start.numpy().tolist(), columns.end.numpy().tolist(), strict=True)]
    shown = [text.encode()[start:end].decode() for start, end in offsets]
    return [word.decode() for word in columns.tokens.numpy()], shown, offsets


@settings(max_examples=30)
@given(st.text(alphabet="aß 1½\u00a0\u200b\u0301'-+#,.!¨ﷺกา北が❤\n") | st.text())
def test_each_word_has_the_place_of_the_characters_that_give_it(text):
    tokens, shown, offsets = located(text)
    assert tokens == words(text)
    assert tokenize(tf.constant(shown, tf.string), RULES).to_list() == [[word.encode()] for word in tokens]
    ends = [0, *(end for _, end in offsets)]
    assert all(start >= end for (start, _), end in zip(offsets, ends, strict=False))


def test_a_place_has_no_punctuation_around_the_word():
    assert located("«Été», (do)")[1] == ["Été", "do"]
