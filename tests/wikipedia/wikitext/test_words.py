"""wikipedia/wikitext/words.py: words are counted as `models.texts.tokens` counts them, and a title's are removed."""

import math
import re
import unicodedata

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.word_characters import (
    HAN,
    KANA,
    PARTS,
    PARTS_OF_HAN,
    PARTS_OF_KANA,
    PARTS_OF_SYLLABIC,
    SYLLABIC,
)
from smooth_clir.wikipedia.wikitext.words import count_words, first_words, without_title

SPACED = [
    "L'été 2020: 3,5 km² à St-Malo (Ille-et-Vilaine), n°5 — fin…",
    "Die Straße; 19. Jh. „Zitat“ 3×4=12 α-β Ωμέγα",
    "Ло́ндон — столица Великобритании; 12 000 чел.",
    "الكِتَابُ مجموعة من ١٢ ورقة، أو أكثر.",
    "प्रयागराज में 12 नदियाँ हैं।",
    "한국어 위키백과 2.0",
    "می\u200cخواهم ۱۲ کتاب",
    "a_b a\u0301b e=mc² 1st 2nd x86 R2D2",
    "об\u02bcєкт Hawai\u02bbi l´été Qur\u02beān a",
    "1\ufe0f\u20e3 titre, \u0301a a\u0e31b 2\u0305x",
    "10² x₁² 10²³₂ ②③ a",
    "Ինչո՞ւ է Երևա՛նը մեծ։ Այո՛, տո՜ւն՝ մի՞թե a՞b",
    "Ge\u00adsamt\u2060wort \ufeffa\u200fb Hallo\u200bWelt é\u00ad\u0301",
]
SPACELESS = [
    "東京（とうきょう）は、2020年の日本のスーパー。ｱｲｳ",
    "ｶﾞｷﾞｸﾞｰ ｶﾞ カ\u3099キ かカきキ ーか Aーか 二〇〇八年 人々",
    "กรุงเทพมหานคร เป็นเมืองหลวง 2 ก. น้ำ aำก \u0e31ก",
    "ພາສາລາວ ຈຳນວນ ភាសាខ្មែរ២០ မြန်မာဘာသာ၊ ကขကກ",
    "เเม่เเมว นํ้า เเ ເເມ່ น้ำ ស្រ្តី ក្ដា กខ՞ค ကုိယ်",
    "กข\u200bคง กข\u00adคง カ\u2060ー\ufe0fキ 東\u200b京 กขʼคง",
    "Tokyo (東京, Tōkyō), ไทยไทย東京カナABCไ1ท",
]


@pytest.mark.parametrize(
    ("text", "count", "beginning"),
    [
        *(("Un arbre, (un chêne).", 2, "Un arbre,"), ("Un arbre, (un chêne).", 3, "Un arbre, (un")),
        *(
            ("Il dit « non ! » à tous.", 3, "Il dit « non ! »"),
            ("東京は首都。", 1, "東京"),
            ("東京は首都。", 2, "東京は首"),
        ),
        *(
            ("東京は首都。都", 2, "東京は首"),
            ("東京は首都。", 0, ""),
            ("カタカナ", 1, "カタカ"),
            ("カーター（カナ）タ", 1, "カーター（カナ）"),
        ),
        *(
            ("カ・タ・カ・ナ", 1, "カ・タ・"),
            ("กรุงเทพมหานคร", 1, "กรุงเ"),
            ("น้ำตกไทย", 1, "น้ำตก"),
            ("ก ข ค ง", 1, "ก ข ค"),
        ),
        *(("aก東京ขค", 2, "aก東京"), ("กข\u200bคงจฉ", 1, "กข\u200bคงจ"), ("42km of 2020", 2, "42km")),
        *(("Ло́ндон — столица", 1, "Ло́ндон —"), ("a b", 0, "")),
    ],
)
def test_a_beginning_has_so_many_words_and_the_punctuation_behind_them(text: str, count: int, beginning: str) -> None:
    assert first_words(text, count) == (beginning, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *(
            ("", 0),
            ("Un arbre, (un chêne) 2²", 6),
            ("東", 1),
            ("東京", 1),
            ("東京都 2020", 3),
            ("カ", 1),
            ("カタカ", 1),
        ),
        *(
            ("カタカナ", 2),
            ("カーターー", 1),
            ("カ カ カ", 2),
            ("น้ำตก", 1),
            ("กขคง", 1),
            ("กขคงจ", 2),
            ("กข\u00adคง", 1),
        ),
        *(("กข คง กข คง", 2), ("Tokyo 東京 カナ ไทย", 4), ("a b.", 2), ("東京首都", 2), ("เมืองหลว", 2), ("...", 0)),
    ],
)
def test_a_word_of_a_script_without_spaces_counts_as_a_part_of_one(text: str, words: int) -> None:
    assert count_words(text) == words
    assert first_words(text, words) == (text, False)


@given(st.text() | st.text("aé1² .,(東京かカกขー\u0301'"), st.integers(0, 8))
def test_a_beginning_is_one_and_whatever_is_cut_off_begins_a_word(text: str, count: int) -> None:
    beginning, is_cut = first_words(text, count)
    assert text.startswith(beginning)
    assert is_cut or beginning == text
    if is_cut:
        remaining = text[len(beginning) :]
        assert any(unicodedata.category(sign)[0] in "LMN" for sign in remaining)
        assert count <= count_words(beginning) <= count + (count > 0), "the last word is whole"
        assert first_words(beginning, count) == (beginning, False)


SCRIPTS = (
    st.text("aéー1東京かカกขກក\u0301\u0e31\u3099\u00ad ,\u200b") | st.text("かカー東 ") | st.text("กขក\u0e31か\u00ad")
)


@pytest.mark.tensors
@given(st.sampled_from([*SPACED, *SPACELESS]) | SCRIPTS)
@settings(max_examples=60)
@example("".join([*SPACED, *SPACELESS]))
def test_words_and_their_parts_are_those_of_the_models(text: str) -> None:
    import tensorflow as tf

    from models.texts.tokens import tokenize

    counts = [1, 2, 3, 5, 8, 100]
    whole, *cut = tokenize(tf.constant([text, *(first_words(text, count)[0] for count in counts)])).to_list()
    parts = [_parts_of(word.decode()) for word in whole]
    assert count_words(text) == math.ceil(sum(parts) / PARTS)
    for words, count in zip(cut, counts, strict=True):
        expected = whole[: sum(sum(parts[:end]) < PARTS * count for end in range(len(parts)))]
        # Behind the last word may stand a Khmer sign that belongs before one of its signs.
        assert (len(words), words[:-1]) == (len(expected), expected[:-1])


def _parts_of(word: str) -> int:
    """Returns the parts of one of the models' words, by the script of its first character."""
    for scripts, parts in ((HAN, PARTS_OF_HAN), (KANA, PARTS_OF_KANA), (SYLLABIC, PARTS_OF_SYLLABIC)):
        if unicodedata.category(word[0])[0] == "L" and any(regex.match(rf"\p{{{script}}}", word) for script in scripts):
            return parts
    return PARTS


@pytest.mark.parametrize(
    ("sentence", "titles", "remaining"),
    [
        ("The wolf is a Wolf-like mammal.", ["Wolf"], "The is a -like mammal."),
        ("Wolves and werewolf stay.", ["Wolf"], "Wolves and werewolf stay."),
        ("The grey wolf, or wolf, is grey.", ["Grey Wolf"], "The , or , is ."),
        ("The planet Mercury is a planet.", ["Mercury (planet)"], "The planet is a planet."),
        ("Paris is in Texas.", ["Paris, Texas"], "is in ."),
        ("Ludwig XIV. was king.", ["Ludwig XIV."], ". was king."),
        ("C++ is a language.", ["C++"], "C++ is a language."),
        ("L'Ain est une rivière.", ["Ain"], "L' est une rivière."),
        ("The dog or hound barks.", ["Dog", "Hound"], "The or barks."),
        ("ÉTÉ is summer.", ["Été"], "is summer."),
        ("Москва — столица; в Москве.", ["Москва"], "— столица; в Москве."),
        *(
            ("東京都は日本の東京である。", ["東京"], "都は日本のである。"),
            ("木は木曜日の木ではない。", ["木"], "木は木曜日の木ではない。"),
        ),
        *(
            ("「木」(木) とは。", ["木"], "「」() とは。"),
            ("水星（すいせい）は惑星。", ["水星 (惑星)"], "（すいせい）は惑星。"),
        ),
        ("(x) is a letter.", ["(x)"], "() is a letter."),
        ("Об’єкт і об\u02bcєкти; об'єкт.", ["Обʼєкт"], "і об\u02bcєкти; ."),
        ("L’Équipe, or L'Équipe, is a paper.", ["L'Équipe"], ", or , is a paper."),
        ("The Hawai\u2019i of Hawai\u02bbi.", ["Hawai\u02bbi"], "The of ."),
        ("It is.", [], "It is."),
        ("It  is\t.", ["", "  ", "..."], "It is ."),
    ],
)
def test_a_titles_words_go(sentence: str, titles: list[str], remaining: str) -> None:
    assert without_title(sentence, titles) == remaining


@given(st.text(), st.lists(st.text(max_size=8), max_size=4))
def test_nothing_is_added_and_white_space_is_single(sentence: str, titles: list[str]) -> None:
    remaining = without_title(sentence, titles)
    assert remaining == " ".join(remaining.split())
    letters = iter(sentence)
    assert all(letter in letters for letter in remaining if letter != " ")


@given(
    sentence=st.text("abAB_1 -,é", max_size=30),
    title=st.lists(st.text("abAB_1é", min_size=1, max_size=3), min_size=1, max_size=3).map(" ".join),
)
def test_any_sentence_loses_what_a_pattern_of_whole_words_finds(sentence: str, title: str) -> None:
    pattern = "|".join(rf"\b{re.escape(word)}\b" for word in title.split())
    assert without_title(sentence, [title]) == " ".join(re.sub(pattern, "", sentence, flags=re.IGNORECASE).split())
