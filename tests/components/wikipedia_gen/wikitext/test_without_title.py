"""components/wikipedia_gen/wikitext/without_title.py: what a query does not give away."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikipedia_gen.wikitext.without_title import without_title


@pytest.mark.parametrize(
    ("sentence", "titles", "rest"),
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
        ("東京都は日本の東京である。", ["東京"], "都は日本のである。"),
        ("木は木曜日の木ではない。", ["木"], "木は木曜日の木ではない。"),
        ("「木」(木) とは。", ["木"], "「」() とは。"),
        ("水星（すいせい）は惑星。", ["水星 (惑星)"], "（すいせい）は惑星。"),
        ("(x) is a letter.", ["(x)"], "() is a letter."),
        ("It is.", [], "It is."),
        ("It  is\t.", ["", "  ", "..."], "It is ."),
    ],
)
def test_a_titles_words_go(sentence: str, titles: list[str], rest: str) -> None:
    assert without_title(sentence, titles) == rest


@given(st.text(), st.lists(st.text(max_size=8), max_size=4))
def test_nothing_is_added_and_white_space_is_single(sentence: str, titles: list[str]) -> None:
    rest = without_title(sentence, titles)
    assert rest == " ".join(rest.split())
    letters = iter(sentence)
    assert all(letter in letters for letter in rest if letter != " ")


@given(
    sentence=st.text("abAB_1 -,é", max_size=30),
    title=st.lists(st.text("abAB_1é", min_size=1, max_size=3), min_size=1, max_size=3).map(" ".join),
)
def test_any_sentence_loses_what_a_pattern_of_whole_words_finds(sentence: str, title: str) -> None:
    pattern = "|".join(rf"\b{re.escape(word)}\b" for word in title.split())
    assert without_title(sentence, [title]) == " ".join(re.sub(pattern, "", sentence, flags=re.IGNORECASE).split())
