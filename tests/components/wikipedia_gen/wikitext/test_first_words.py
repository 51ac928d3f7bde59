"""components/wikipedia_gen/wikitext/first_words.py: the words that `models.texts.tokens` counts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikipedia_gen.wikitext.count_words import count_words
from components.wikipedia_gen.wikitext.first_words import first_words

TEXTS = [
    "L'été 2020: 3,5 km² à St-Malo (Ille-et-Vilaine), n°5 — fin…",
    "Die Straße; 19. Jh. „Zitat“ 3×4=12 α-β Ωμέγα",
    "Ло́ндон — столица Великобритании; 12 000 чел.",
    "الكِتَابُ مجموعة من ١٢ ورقة، أو أكثر.",
    "東京（とうきょう）は、2020年の日本のスーパー。ｱｲｳ",
    "प्रयागराज में 12 नदियाँ हैं।",
    "กรุงเทพมหานคร เป็นเมืองหลวง 2 ก.",
    "한국어 위키백과 2.0",
    "می\u200cخواهم ۱۲ کتاب",
    "a_b a\u0301b e=mc² 1st 2nd x86 R2D2",
]


@pytest.mark.parametrize(
    ("text", "count", "beginning"),
    [
        ("Un arbre, (un chêne).", 2, "Un arbre,"),
        ("Un arbre, (un chêne).", 3, "Un arbre, (un"),
        ("Il dit « non ! » à tous.", 3, "Il dit « non ! »"),
        ("東京は首都。", 3, "東京は"),
        ("42km of 2020", 2, "42km"),
        ("Ло́ндон — столица", 1, "Ло́ндон —"),
        ("a b", 0, ""),
    ],
)
def test_a_beginning_has_so_many_words_and_the_punctuation_behind_them(text: str, count: int, beginning: str) -> None:
    assert first_words(text, count) == (beginning, True)


@pytest.mark.parametrize("text", ["", "a", "a b.", "東京", "..."])
def test_a_text_of_fewer_words_is_whole(text: str) -> None:
    assert first_words(text, 2) == (text, False)


@given(st.text() | st.text("aé1² .,(東ー\u0301'"), st.integers(0, 8))
def test_a_beginning_is_one_and_whatever_is_cut_off_begins_a_word(text: str, count: int) -> None:
    beginning, is_cut = first_words(text, count)
    assert text.startswith(beginning)
    assert is_cut or beginning == text
    if is_cut:
        rest = text[len(beginning) :]
        assert any(unicodedata.category(sign)[0] in "LMN" for sign in rest)
        assert count_words(beginning) == count


@pytest.mark.training
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 100])
def test_words_are_those_of_the_models(text: str, count: int) -> None:
    import tensorflow as tf

    from models.texts.tokens import tokenize

    whole, cut = tokenize(tf.constant([text, first_words(text, count)[0]])).to_list()
    assert cut == whole[:count]
