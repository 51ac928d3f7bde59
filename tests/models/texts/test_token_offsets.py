"""Where the words of a text stand in it, as it was given."""

import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.texts.tokens import tokenize, tokenize_with_offsets

PIECES = [
    *("a", "Ab", "straße", "İ", "ΣΣ", "1", "23", "٣", " ", "  ", "-", "!", "\n", "\x00", "\x85", "\u00a0", "\u3000"),
    *("é", "e\u0301", "ạ\u0308", "\u0301", "\u0345", "α\u0345", "ﬁ", "Ⅷ", "Ａ", "１", "½", "㏂", "ﷺ", "²", "㍿"),
    *("\u1112\u1161\u11ab", "한", "\u1161", "ㅎ", "ㅏ", "ﾊ", "ﾟ", "ﾞ", "ﾡ", "ￂ", "グ", "ー", "北", "京", "ひ"),
    *("مُ", "اللغة", "שָׁ", "हिन्दी", "বাং", "\u09be", "ที่", "ทำ", "ນີ້", "ຳ", "ខ្", "မြ", "\u0e33", "தமி"),
    *("👨\u200d👩", "1\ufe0f\u20e3", "😀", "\u00ad", "\u200b", "\u2060", "\ufeff", "\u115f", "\ufffe", "\U000e0041"),
]
"""Of every kind of script, and of what normalisation puts together, takes apart, moves or drops."""
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=20))


def words(text):
    return [word.decode() for word in tokenize(tf.constant([text]))[0].numpy()]


def places(text):
    """(word, start, end), in bytes."""
    found = tokenize_with_offsets(tf.constant(text))
    tokens, starts, ends = (column.numpy().tolist() for column in found)
    return list(zip([token.decode() for token in tokens], starts, ends, strict=True))


def told(text):
    """(word, what stands at its place)."""
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
    assert told(text) == expected


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
    assert told(text) == expected


@settings(max_examples=200)
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


@settings(max_examples=100)
@given(TEXTS)
def test_what_stands_at_the_place_of_a_word_of_a_normal_text_is_that_word(text):
    text = unicodedata.normalize("NFKC", text)
    for word, at_place in told(text):
        assert at_place is None or words(at_place) == [word]


@given(TEXTS)
def test_the_words_of_a_word_are_itself(text):
    for word in words(text):
        assert words(word) == [word]


def test_with_every_character_of_unicode_words_have_their_places():
    # Between letters, before and after marks, vowels and a script without spaces; of the planes that hold no letters,
    # every 64th.
    codes = [*range(0xD800), *range(0xE000, 0x20000), *range(0x20000, 0x110000, 64)]
    for first in range(0, len(codes), 1024):
        characters = map(chr, codes[first : first + 1024])
        text = " ".join(f"a{one}b 北{one}\u0301c ㅎ{one}ᅡ{one}ᆨ x{one}{one}\u0345\u0301" for one in characters)
        start = tokenize_with_offsets(tf.constant(text)).start
        assert bool(tf.reduce_any(start >= 0)), hex(codes[first])


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
