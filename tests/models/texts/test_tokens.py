"""Tokens, a test for each rule and each script, and the places of tokens in their text."""

import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.texts import tokens
from models.texts.tokens import tokenize, tokenize_with_offsets
from tests.models.texts.every_character import every_character

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


@pytest.mark.slow
def test_every_character_parts_words_or_does_not_as_in_the_plain_definition(monkeypatch):
    # Between letters, after a character that is a word of its own, and before a mark.
    texts = tf.constant([f"a{one}b北{one}\u0301c" for one in every_character()])
    found = tokenize(texts)
    monkeypatch.setattr(tokens, "_SEPARATORS", PLAIN_SEPARATORS)
    plain = tokenize(texts)
    assert bool(tf.reduce_all(found.row_splits == plain.row_splits))
    assert bool(tf.reduce_all(found.flat_values == plain.flat_values))


# Places

PIECES = [
    *("a", "Ab", "straße", "İ", "ΣΣ", "1", "23", "٣", " ", "  ", "-", "!", "\n", "\x00", "\x85", "\u00a0", "\u3000"),
    *("é", "e\u0301", "ạ\u0308", "\u0301", "\u0345", "α\u0345", "ﬁ", "Ⅷ", "Ａ", "１", "½", "㏂", "ﷺ", "²", "㍿"),
    *("\u1112\u1161\u11ab", "한", "\u1161", "ㅎ", "ㅏ", "ﾊ", "ﾟ", "ﾞ", "ﾡ", "ￂ", "グ", "ー", "北", "京", "ひ"),
    *("مُ", "اللغة", "שָׁ", "हिन्दी", "বাং", "\u09be", "ที่", "ทำ", "ນີ້", "ຳ", "ខ្", "မြ", "\u0e33", "தமி"),
    *("👨\u200d👩", "1\ufe0f\u20e3", "😀", "\u00ad", "\u200b", "\u2060", "\ufeff", "\u115f", "\ufffe", "\U000e0041"),
]
"""Pieces of every kind of script, and characters that normalisation composes, decomposes, moves or drops."""
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=20))


def places(text):
    """(word, start, end), in bytes."""
    found = tokenize_with_offsets(tf.constant(text))
    tokens, starts, ends = (column.numpy().tolist() for column in found)
    return list(zip([token.decode() for token in tokens], starts, ends, strict=True))


def words_and_places(text):
    """(word, the text at its place)."""
    content = text.encode()
    return [(word, content[start:end].decode() if start >= 0 else None) for word, start, end in places(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'Été!", [("l", "L"), ("été", "Été")]),
        ("cafe\u0301s d\u0323\u0307", [("cafés", "cafe\u0301s"), ("ḍ\u0307", "d\u0323\u0307")]),
        ("Straße İzmir", [("strasse", "Straße"), ("i\u0307zmir", "İzmir")]),
        ("ﬁn ＡＢＣ Ⅷ", [("fin", "ﬁn"), ("abc", "ＡＢＣ"), ("viii", "Ⅷ")]),
        ("mu\u00adsic\u00ad e\u00ad\u0301", [("music", "mu\u00adsic"), ("é", "e\u00ad\u0301")]),
        ("x2 北京", [("x", "x"), ("2", "2"), ("北", "北"), ("京", "京")]),
        ("ﾋﾟｱﾉ", [("ピ", "ﾋﾟ"), ("ア", "ｱ"), ("ノ", "ﾉ")]),
        ("\u1112\u1161\u11ab국 ㅎㅏ", [("한국", "\u1112\u1161\u11ab국"), ("하", "ㅎㅏ")]),
        ("ที่นี่", [("ที่", "ที่"), ("นี่", "นี่")]),
        ("1\ufe0f\u20e3👍", [("1", "1"), ("\u20e3", "\u20e3")]),
        ("one\x00two", [("one", "one"), ("two", "two")]),
        ("?!… —", []),
        ("", []),
    ],
)
def test_a_word_stands_where_its_characters_do(text, expected):
    assert words_and_places(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 1½ b", [("a", "a"), ("11", "1½"), ("2", None), ("b", "b")]),
        ("a㏂b", [("aa", "a㏂"), ("m", None), ("b", "b")]),
        ("ทำ", [("ท\u0e4d", "ทำ"), ("า", None)]),
        ("1\u0301\u0323", [("1", "1\u0301\u0323"), ("\u0323\u0301", None)]),  # marks that change their places
    ],
)
def test_a_word_that_begins_within_what_characters_stand_for_together_has_no_place(text, expected):
    assert words_and_places(text) == expected


@settings(max_examples=100)
@given(TEXTS)
def test_words_are_those_of_tokenize_and_places_grow_between_characters(text):
    found = places(text)
    assert [word for word, *_ in found] == words(text)
    boundaries = {len(text[:end].encode()) for end in range(len(text) + 1)}
    with_place = [(start, end) for _, start, end in found if start >= 0]
    assert {bound for place in with_place for bound in place} <= boundaries
    bounds = [bound for place in with_place for bound in place]
    assert bounds == sorted(bounds)
    assert all(start < end for start, end in with_place)
    assert all((start, end) == (-1, -1) for _, start, end in found if start < 0)
    assert not found or found[0][1] >= 0  # it begins behind no other word


@settings(max_examples=50)
@given(TEXTS)
def test_what_stands_at_the_place_of_a_word_of_a_normal_text_is_that_word(text):
    text = unicodedata.normalize("NFKC", text)
    for word, at_place in words_and_places(text):
        assert at_place is None or words(at_place) == [word]


@given(TEXTS)
def test_the_words_of_a_word_are_itself(text):
    for word in words(text):
        assert words(word) == [word]


@pytest.mark.slow
def test_with_every_character_of_unicode_words_have_their_places():
    # Between letters, before and after marks, vowels and a script without spaces.
    for first in range(0, len(every_character()), 1024):
        characters = every_character()[first : first + 1024]
        text = " ".join(f"a{one}b 北{one}\u0301c ㅎ{one}ᅡ{one}ᆨ x{one}{one}\u0345\u0301" for one in characters)
        start = tokenize_with_offsets(tf.constant(text)).start
        assert bool(tf.reduce_any(start >= 0)), hex(ord(characters[0]))


def test_bytes_that_are_no_utf_8_belong_to_their_words():
    found = tokenize_with_offsets(tf.constant(b"a\xffb \xe9t\xc3"))
    assert found.tokens.numpy().tolist() == [b"a\xffb", b"\xe9t\xc3"]
    assert (found.start.numpy().tolist(), found.end.numpy().tolist()) == ([0, 4], [3, 7])


@pytest.mark.serving
def test_a_saved_model_gives_the_same(tmp_path):
    module = tf.Module()
    module.find = tf.function(
        lambda text: tokenize_with_offsets(text)._asdict(), input_signature=[tf.TensorSpec([], tf.string)]
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    found = tf.saved_model.load(str(tmp_path / "model")).find(tf.constant("cafe\u0301 1½"))
    assert found["start"].numpy().tolist() == [0, 7, -1]
