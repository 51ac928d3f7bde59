"""Tokens, a test for each rule and each script, and the places of tokens in their text."""

import unicodedata
from itertools import pairwise

import pytest
import regex
import tensorflow as tf
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.texts import marks, tokens
from models.texts.token_offsets import tokenize_with_offsets
from models.texts.tokens import tokenize
from schemas.word_characters import APOSTROPHES, WITHIN_WORDS
from schemas.word_rules import WordRules
from tests.models.texts.every_character import every_character

pytestmark = pytest.mark.tensors

UNSEEN = (
    "ad 34f 61c 115f 1160 17b4 180b 180e 200c 200d 200e 200f 202a 202e 2060 2063 2066 2069 3164 fe0e fe0f feff ffa0"
)


def words(text, **rules):
    return [word.decode() for word in tokenize(tf.constant([text]), WordRules(**rules))[0].numpy()]


EXAMPLES = {
    "spellings of one word are folded together": {
        "Straße": "strasse",
        "İzmir I\u0307ZMIR i\u0307zmir": "izmir izmir izmir",
        "i\u0307\u0301 Į\u0307": "í į",  # Lithuanian keeps the dot of i below accents
        "ΣΊΣΥΦΟΣ": "σίσυφοσ",
        "ＡＢＣ ﬁn Ⅷ": "abc fin viii",
        "cafe\u0301": "café",
        "ﾋﾟｱﾉ": "ピア アノ",
    },
    "punctuation, symbols and white space part words and are dropped": {
        "L'Été, c'est-à-dire «ça»!": "l été c est à dire ça",
        "snake_case a+b=c $5 C\u00a9": "snake case a b c 5 c",
        "one\ttwo\r\nthree\u00a0four\u3000five\x00six": "one two three four five six",
        "Hallo\u200bWelt \u200b": "hallo welt",
        "vol\uffffcan \ufdd0\U0001fffeb\ufdef": "vol can b",
        "a\u2010b\u2011c\u058ad\u05bee": "a b c d e",
        "": "",
        "?!… — «» € + © \n": "",
    },
    "a character that nobody sees holds a word together": {
        f"Kon{chr(int(code, 16))}zept": "konzept" for code in UNSEEN.split()
    },
    "whatever is written for an apostrophe parts words": {
        f"об{apostrophe}єкт l{apostrophe}été": "об єкт l été" for apostrophe in APOSTROPHES
    },
    "no word begins with a mark": {
        "1\ufe0f\u20e3 titre": "1 titre",
        "❤\ufe0f \ufe0f \u20e3": "",
        "\u0301a, \u0301b \u0301\u0302 c": "a b c",
        "a¨b ΄α か゛ ﱞ": "a b α か",  # compatible with a space and a mark
        "2\u0305\u0332x a\u0e31 \u0e31ก": "2 x a\u0e31 ก",
        "\u200b\u0301a": "a",
    },
    "letters and digits are parted": {"mp3player": "mp 3 player", "２０２０年 x²": "2020 年 x 2", "कक्षा१२": "कक्षा १२"},
    "a superscript, a fraction or a number in a sign is a number of its own": {
        "10²³ 10₂ x₁² 2019²": "10 23 10 2 x 1 2 2019 2",
        "1½ 2⅓": "1 1 2 2 1 3",
        "①② ⑫ 3⒈": "1 2 12 3 1",
        "12㏠": "12 1 日",
    },
    "each character of Han is a word": {"北京大学": "北 京 大 学"},
    "other scripts without spaces have overlapping pairs of characters with their marks": {
        "".join(run.split()): " ".join(first + second for first, second in pairwise(run.split()))
        for run in ["ひ ら が な", "コ ン ピ ュー ター", "ク リ ッ ク す る", "ที่ นี่ ดี", "ນີ້ ດີ", "ភា សា ខ្ មែ រ", "မြ န် မာ"]
    },
    "a pair holds neighbours of one run alone": {
        "ก ขค, ง กかか": "ก ขค ง ก かか",
        "ไทยthaiไทย2ไทย": "ไท ทย thai ไท ทย 2 ไท ทย",
        "東京タワーの夜": "東 京 タワー ワーの 夜",
    },
    "scripts with spaces keep their words whole": {
        text: unicodedata.normalize("NFKC", text)
        for text in [
            *("한국어 검색", "اللغة العربية", "مُحَمَّد رَسُول", "שָׁלוֹם עולם", "हिन्दी भाषा क्षत्रिय", "বাংলা ভাষা"),
            *("தமிழ் மொழி", "за́мок москва́", "ọ̀rọ̀ ɛ̃"),
        ]
    },
}


@pytest.mark.parametrize("rule", EXAMPLES)
def test_words_of_a_text(rule):
    assert {text: " ".join(words(text)) for text in EXAMPLES[rule]} == EXAMPLES[rule]


@given(st.lists(st.text("กขที่คかナ北京a1 ๑,\u200b", max_size=12), min_size=1, max_size=4), st.sampled_from([2, 5]))
@settings(max_examples=30)
def test_the_words_of_a_word_are_itself_and_texts_of_a_batch_do_not_mix(texts, limit):
    batch_words = tokenize(tf.constant(texts))
    assert batch_words.to_list() == [[word.encode() for word in words(text)] for text in texts]
    single = batch_words.flat_values
    assert tokenize(single).to_list() == [[word] for word in single.numpy().tolist()]
    assert tokenize(tf.constant(texts), WordRules(max_tokens=limit)).to_list() == [
        [word.encode() for word in words(text, max_tokens=limit)] for text in texts
    ]


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("北京大学中文", 2, 4),
        ("ひらがなです", 2, 4),
        ("ไทยไทยไทยไทย", 2, 6),
        ("one 北 two", 2, 3),
        ("one 北京 two", 2, 3),
        ("one two 北", 2, 2),
        ("one", 2, 1),
    ],
)
def test_a_limit_counts_han_and_kana_as_half_a_word_and_other_pairs_as_a_third(text, limit, kept):
    assert words(text, max_tokens=limit) == words(text)[:kept]


SUPERSCRIPTS, SUBSCRIPTS = "²³¹⁰⁴-⁹", "₀-₉"
IN_SIGNS = "".join(
    character
    for character in every_character()
    if unicodedata.normalize("NFKC", character)[0].isdecimal()
    and not regex.match(rf"[{SUPERSCRIPTS}{SUBSCRIPTS}\p{{Nd}}]", character)
)
NUMBERS = regex.compile(f"[{SUPERSCRIPTS}]+|[{SUBSCRIPTS}]+|[{IN_SIGNS}]")
SEPARATORS = regex.compile(rf"[\p{{P}}\p{{S}}\p{{C}}\p{{Z}}{APOSTROPHES}]")
HAN = r"[\p{Han}--[\p{M}\p{N}]][\p{M}ー]*"
KANA = r"[[\p{Hiragana}\p{Katakana}]--[\p{M}\p{N}]][\p{M}ー]*"
SOUTHEAST_ASIAN = r"[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]--[\p{M}\p{N}]][\p{M}ー]*"
WORDS = regex.compile(rf"\p{{N}}+|{HAN}|(?:{KANA})+|(?:{SOUTHEAST_ASIAN})+", regex.V1)
PAIRED = regex.compile(f"{KANA}|{SOUTHEAST_ASIAN}", regex.V1)
NEW_RANGES = [(0x11930, 0x11947), (0x1FBF0, 0x1FBFA), (0x2FFC, 0x3000), (0x2EBF0, 0x2EE5E)]
NEW = "\ua7c7\ua7c9\ua7f5\uab69\u1abf\u1ac0\ua82c\u31ef\U0001df1a\U00016ff0\U00016ff1\U00010eab\U00010eac\U000111cf"
NEW += "".join(chr(code) for low, high in NEW_RANGES for code in range(low, high))
"""Characters of Unicode 13 that are folded, decomposed or reordered, and some of Unicode 14 to 15.1; the tables in
TensorFlow and tensorflow-text are older."""


def reference(text):
    """A text's words, by the rules in plain Python."""
    text = NUMBERS.sub(r" \g<0> ", text.replace("\u200b", " "))
    text = text.translate(dict.fromkeys(map(ord, WITHIN_WORDS)))
    for old, letter in zip("ണ് ന് ര് ല് ള് ക് ত্".split(), "ൺൻർൽൾൿৎ", strict=True):
        text = text.replace(f"{old}\u200d", letter)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = regex.sub(r"\p{Default_Ignorable_Code_Point}", "", text)
    text = regex.sub(r"(\p{Soft_Dotted})\u0307+", r"\1", unicodedata.normalize("NFKC", text))
    text = SEPARATORS.sub(" ", unicodedata.normalize("NFKC", text))
    parted = regex.sub(r"(^|\s)\p{M}+", " ", WORDS.sub(r" \g<0> ", text)).split()
    return [pair for word in parted for pair in pairs_of(ordered(word))]


def ordered(word):
    """A word with the marks of each character in the order of their ranks; a Khmer subscript is one mark."""
    characters = []
    for part in regex.findall("\u17d2[\u1780-\u17b3]|.", word):
        rank = 0 if part == "\u17d2" else marks._RANKS.get("\0" if part == "\u17d2រ" else part[0], 0)
        if not characters or not rank:
            characters.append([])
            rank = 0
        characters[-1].append((rank, part))
    word = "".join(part for character in characters for _, part in sorted(character, key=lambda pair: pair[0]))
    for spelling, character in marks._ALIKE.items():
        word = word.replace(spelling, character)
    return unicodedata.normalize("NFC", word)


def pairs_of(word):
    """The overlapping pairs of a run; any other word, and a single character, as it is."""
    characters = PAIRED.findall(word)
    return [first + second for first, second in pairwise(characters)] or [word]


KNOWN = st.characters(whitelist_categories=["L", "M", "N", "P", "S", "Z", "Cc", "Cf"], blacklist_characters=NEW)


@given(st.text(KNOWN) | st.text("aiI1² .,'ʼ´İ\u0307\u0301\u200b\u200d東ーかก\u0e31½٣ﾞ\u20e3"))
@example("ന്\u200d ա՞բ՛ นํา้เเ\u0e34\u0e49 ស្រ្តីក្ដេា ກໍ້າ ကုိျ")
def test_words_are_those_of_the_rules(text):
    assert words(text) == reference(text)


@given(st.text(KNOWN) | st.text("aiIåα\u0307\u0301\u0323\u0345ᾳᾼ\u037aÅ가ᄀ\u1161が\u3099٣أا\u0654\u064e"))
def test_canonically_equivalent_texts_have_the_same_words(text):
    assert words(unicodedata.normalize("NFD", text)) == words(text) == words(unicodedata.normalize("NFC", text))


def test_every_character_is_one_of_the_rules():
    # Between letters, after a character that is a word of its own, a digit and a space, and before marks.
    known = [sign for sign in every_character() if sign not in NEW and unicodedata.category(sign) not in ("Cn", "Co")]
    for first in range(0, len(known), 1024):
        texts = [f"a{sign}b北{sign}\u0301c 1{sign}2 {sign} i{sign}\u0307" for sign in known[first : first + 1024]]
        assert words("\n".join(texts)) == reference("\n".join(texts)), hex(ord(known[first]))


# Places

PIECES = [
    *("a", "Ab", "straße", "İ", "ΣΣ", "1", "23", "٣", " ", "  ", "-", "!", "\n", "\x00", "\x85", "\u00a0", "\u3000"),
    *("é", "e\u0301", "ạ\u0308", "\u0301", "\u0345", "α\u0345", "ﬁ", "Ⅷ", "Ａ", "１", "½", "㏂", "ﷺ", "²", "㍿"),
    *("\u1112\u1161\u11ab", "한", "\u1161", "ㅎ", "ㅏ", "ﾊ", "ﾟ", "ﾞ", "ﾡ", "ￂ", "グ", "ー", "北", "京", "ひ"),
    *("مُ", "اللغة", "שָׁ", "हिन्दी", "বাং", "\u09be", "ที่", "ทำ", "ນີ້", "ຳ", "ខ្", "မြ", "\u0e33", "தமி"),
    *("นํา้", "เ", "ี่", "ຳ້", "ស្រ", "្ត", "្ដ", "៊", "ကုိ", "ျ", "ന്\u200d", "՞", "ա"),
    *("👨\u200d👩", "1\ufe0f\u20e3", "i\u0307", *"\u20e3😀ʼ´①\u0307\u00ad\u200b\u2060\ufeff\u115f\ufffe\U000e0041"),
]
"""Pieces of every kind of script, and characters that normalisation composes, decomposes, moves or drops."""
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=20))


def located_words(text):
    """(word, start, end), in bytes."""
    tokens, starts, ends = (column.numpy().tolist() for column in tokenize_with_offsets(tf.constant(text)))
    return list(zip([token.decode() for token in tokens], starts, ends, strict=True))


def words_and_shown(text):
    """(word, the text at its offsets)."""
    content = text.encode()
    return [(word, content[start:end].decode() if start >= 0 else None) for word, start, end in located_words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'Été!", [("l", "L"), ("été", "Été")]),
        ("cafe\u0301s d\u0323\u0307", [("cafés", "cafe\u0301s"), ("ḍ\u0307", "d\u0323\u0307")]),
        ("Straße İzmir", [("strasse", "Straße"), ("izmir", "İzmir")]),
        ("ﬁn ＡＢＣ Ⅷ", [("fin", "ﬁn"), ("abc", "ＡＢＣ"), ("viii", "Ⅷ")]),
        ("mu\u00adsic\u00ad e\u00ad\u0301", [("music", "mu\u00adsic"), ("é", "e\u00ad\u0301")]),
        ("x2 北京", [("x", "x"), ("2", "2"), ("北", "北"), ("京", "京")]),
        ("ﾋﾟｱﾉ", [("ピア", "ﾋﾟ"), ("アノ", "ｱﾉ")]),
        ("\u1112\u1161\u11ab국 ㅎㅏ", [("한국", "\u1112\u1161\u11ab국"), ("하", "ㅎㅏ")]),
        ("ที่นี่ดี ก", [("ที่นี่", "ที่"), ("นี่ดี", "นี่ดี"), ("ก", "ก")]),
        ("1\ufe0f\u20e3👍", [("1", "1")]),
        ("I\u0307ZMI\u0307R a\u200bb", [("izmir", "I\u0307ZMI\u0307R"), ("a", "a"), ("b", "b")]),
        ("l´été об\u02bcєкт", [("l", "l"), ("été", "été"), ("об", "об"), ("єкт", "єкт")]),
        ("10² ②③", [("10", "10"), ("2", "²"), ("2", "②"), ("3", "③")]),
        ("one\x00two", [("one", "one"), ("two", "two")]),
        ("?!… —", []),
        ("", []),
    ],
)
def test_a_word_stands_where_its_characters_do(text, expected):
    assert words_and_shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 1½ b", [("a", "a"), ("1", "1"), ("1", "½"), ("2", None), ("b", "b")]),
        ("a㏂b", [("aa", "a㏂"), ("m", None), ("b", "b")]),
        ("ทำดี", [("ท\u0e4dา", "ทำ"), ("าดี", None)]),
        ("ก\u0e33 \u0eb3", [("ก\u0e4d\u0e32", "ก\u0e33"), ("\u0eb2", "\u0eb3")]),
    ],
)
def test_a_word_that_begins_within_what_characters_stand_for_together_has_no_place(text, expected):
    assert words_and_shown(text) == expected


@settings(max_examples=40)
@given(TEXTS)
def test_words_are_those_of_tokenize_and_places_grow_between_characters(text):
    located = located_words(text)
    assert [word for word, *_ in located] == words(text)
    boundaries = {len(text[:end].encode()) for end in range(len(text) + 1)}
    with_offsets = [(start, end) for _, start, end in located if start >= 0]
    bounds = [bound for offsets in with_offsets for bound in offsets]
    assert {*bounds} <= boundaries and bounds == sorted(bounds)
    assert all(start < end for start, end in with_offsets)
    assert all((start, end) == (-1, -1) for _, start, end in located if start < 0)
    assert not located or located[0][1] >= 0  # it begins behind no other word


@given(TEXTS)
def test_words_are_their_own_words(text):
    tokens = tokenize(tf.constant([text])).flat_values
    assert tokenize(tokens).to_list() == [[token] for token in tokens.numpy().tolist()]


@settings(max_examples=40)
@given(TEXTS.map(lambda text: unicodedata.normalize("NFKC", text)))
def test_what_stands_at_the_place_of_a_word_of_a_normal_text_begins_with_that_word(text):
    # A pair stands where its first character does; a character that joins the one before it has the place of both.
    pairs = [pair for pair in words_and_shown(text) if pair[1] is not None and not PAIRED.match(pair[0])]
    shown_words = tokenize(tf.constant([shown for _, shown in pairs], tf.string)).to_list()
    assert [tokens[:1] for tokens in shown_words] == [[word.encode()] for word, _ in pairs]


def test_with_every_character_of_unicode_words_have_their_places():
    # Between letters, before and after marks, vowels and a script without spaces.
    for first in range(0, len(every_character()), 1024):
        characters = every_character()[first : first + 1024]
        text = " ".join(f"a{sign}b 北{sign}\u0301c ㅎ{sign}ᅡ{sign}ᆨ x{sign}{sign}\u0345\u0301" for sign in characters)
        start = tokenize_with_offsets(tf.constant(text)).start
        assert bool(tf.reduce_any(start >= 0)), hex(ord(characters[0]))


def test_bytes_that_are_no_utf_8_belong_to_their_words():
    words = tokenize_with_offsets(tf.constant(b"a\xffb \xe9t\xc3"))
    assert words.tokens.numpy().tolist() == [b"a\xffb", b"\xe9t\xc3"]
    assert (words.start.numpy().tolist(), words.end.numpy().tolist()) == ([0, 4], [3, 7])


def test_equal_rules_are_traced_once_however_often_they_are_made():
    text = tf.constant(["un loup"])
    tokenize(text, WordRules(max_tokens=7))
    traced = tokens._tokens.experimental_get_tracing_count()
    for _ in range(3):
        tokenize(text, WordRules(max_tokens=7))
    assert tokens._tokens.experimental_get_tracing_count() == traced
