"""Tokens: one test a rule, and one a script."""

import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.texts import tokens
from models.texts.tokens import tokenize

PLAIN_SEPARATORS = r"[\p{P}\p{S}\p{C}\p{Z}]+"


def words(text, max_tokens=None):
    return [word.decode() for word in tokenize(tf.constant([text]), max_tokens)[0].numpy()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Straße", ["strasse"]),
        ("İzmir", ["i\u0307zmir"]),
        ("ΣΊΣΥΦΟΣ", ["σίσυφοσ"]),
        ("ＡＢＣ", ["abc"]),
        ("ﬁn Ⅷ", ["fin", "viii"]),
        ("cafe\u0301", ["café"]),
        ("ﾋﾟｱﾉ", ["ピ", "ア", "ノ"]),
    ],
)
def test_spellings_of_one_word_are_folded_together(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'Été, c'est-à-dire «ça»!", ["l", "été", "c", "est", "à", "dire", "ça"]),
        ("snake_case a+b=c $5 C\u00a9", ["snake", "case", "a", "b", "c", "5", "c"]),
        ("one\ttwo\r\nthree\u00a0four\u3000five\x00six", ["one", "two", "three", "four", "five", "six"]),
        ("mu\u00adsic a\u200db", ["music", "ab"]),  # soft hyphens and joiners hold words together
    ],
)
def test_punctuation_symbols_and_white_space_part_words_and_are_dropped(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mp3player", ["mp", "3", "player"]),
        ("２０２０年", ["2020", "年"]),
        ("कक्षा१२", ["कक्षा", "१२"]),
        ("x²", ["x", "2"]),
    ],
)
def test_letters_and_digits_are_parted(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(["北", "京", "大", "学"], id="Han"),
        pytest.param(["ひ", "ら", "が", "な"], id="Hiragana"),
        pytest.param(["コ", "ン", "ピ", "ュー", "ター"], id="Katakana"),
        pytest.param(["ที่", "นี่", "ดี"], id="Thai"),
        pytest.param(["ນີ້", "ດີ"], id="Lao"),
        pytest.param(["ភា", "សា", "ខ្", "មែ", "រ"], id="Khmer"),
        pytest.param(["မြ", "န်", "မာ"], id="Myanmar"),
    ],
)
def test_script_without_spaces_is_split_by_character_with_its_marks(expected):
    assert words("".join(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("한국어 검색", id="Hangul"),
        pytest.param("اللغة العربية", id="Arabic"),
        pytest.param("مُحَمَّد رَسُول", id="Arabic with vowels"),
        pytest.param("שָׁלוֹם עולם", id="Hebrew with points"),
        pytest.param("हिन्दी भाषा क्षत्रिय", id="Devanagari"),
        pytest.param("বাংলা ভাষা", id="Bengali"),
        pytest.param("தமிழ் மொழி", id="Tamil"),
        pytest.param("за́мок москва́", id="Cyrillic with stress marks"),
        pytest.param("ọ̀rọ̀ ɛ̃", id="Latin with marks that do not compose"),
    ],
)
def test_script_with_spaces_keeps_its_words_whole(text):
    assert words(text) == unicodedata.normalize("NFKC", text).split()


@pytest.mark.parametrize("text", ["", " \n", "?!… — «»", "€ + ©"])
def test_text_without_words_has_no_tokens(text):
    assert words(text) == []


def test_max_tokens_keeps_the_first_words():
    assert words("one two three", max_tokens=2) == ["one", "two"]
    assert words("one", max_tokens=2) == ["one"]


def test_texts_of_a_batch_do_not_mix():
    texts = ["one two", "", "北京", "three"]
    assert tokenize(tf.constant(texts)).to_list() == [[word.encode() for word in words(text)] for text in texts]


@given(st.text())
def test_tokens_are_their_own_tokens(text):
    assert words(" ".join(words(text))) == words(text)


@given(st.text(), st.sampled_from([None, 1, 3]))
def test_words_are_those_that_the_plain_definition_of_separators_gives(text, max_tokens):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_SEPARATORS", PLAIN_SEPARATORS)
        plain = words(text, max_tokens)
    assert words(text, max_tokens) == plain


def test_every_character_parts_words_or_does_not_as_in_the_plain_definition(monkeypatch):
    # Between letters, after a character that is a word of its own, and before a mark.
    texts = tf.constant(
        # Beyond U+32000 there are only tags, variants and private use: every 64th stands for them.
        [
            f"a{chr(code)}b北{chr(code)}\u0301c"
            for code in [*range(0x32000), *range(0x32000, 0x110000, 64)]
            if not 0xD800 <= code < 0xE000
        ]
    )
    found = tokenize(texts)
    monkeypatch.setattr(tokens, "_SEPARATORS", PLAIN_SEPARATORS)
    plain = tokenize(texts)
    assert bool(tf.reduce_all(found.row_splits == plain.row_splits))
    assert bool(tf.reduce_all(found.flat_values == plain.flat_values))
