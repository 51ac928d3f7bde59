"""Snippets: the piece of a text with the best words, none of them cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smooth_clir.retrieval.snippet import Snippet, Word, make_snippet

pytestmark = pytest.mark.tensors


def words_of(text: str, shares: dict[str, float]) -> list[Word]:
    return [Word(*word.span(), word[0], shares.get(word[0], 0.0)) for word in re.finditer(r"\S+", text)]


def text_of(snippet: Snippet) -> str:
    return "".join(piece.text for piece in snippet.pieces)


def test_the_piece_with_the_most_terms_is_chosen_each_counted_once() -> None:
    text = "chat chat chat " + "de " * 40 + "chat et chien"
    snippet = make_snippet(text, words_of(text, {"chat": 1.0, "chien": 0.5}), 30)
    assert text_of(snippet).endswith("chat et chien")
    assert [piece.text for piece in snippet.pieces if piece.is_match] == ["chat", "chien"]
    assert (snippet.is_beginning, snippet.is_end) == (False, True)


def test_words_with_little_of_the_largest_share_are_not_marked() -> None:
    snippet = make_snippet("le chat", words_of("le chat", {"le": 0.01, "chat": 1.0}))
    assert [(piece.text, piece.is_match) for piece in snippet.pieces] == [("le ", False), ("chat", True)]


def test_a_text_without_words_that_match_shows_its_beginning() -> None:
    text = "un mot " * 100
    snippet = make_snippet(text, words_of(text, {}), 20)
    assert text_of(snippet) == "un mot un mot un mot"
    assert (snippet.is_beginning, snippet.is_end) == (True, False)
    assert text_of(make_snippet(text, [], 20)) == "un mot un mot un"  # cut at a space, for no word is known
    assert [text_of(make_snippet(blank, [])) for blank in ("", " ")] == ["", " "]


def test_a_word_longer_than_the_snippet_does_not_stop_it() -> None:
    text = "x" * 100
    assert 0 < len(text_of(make_snippet(text, [Word(0, 100, text, 1.0)], 20))) <= 20


@given(
    st.lists(st.sampled_from(["chat", "chien", "de", "la", "قط", "🐈"]), min_size=1, max_size=80),
    st.integers(10, 60),
)
def test_a_snippet_is_a_stretch_of_the_text_within_its_size_with_whole_words(words: list[str], characters: int) -> None:
    text = " ".join(words)
    snippet = make_snippet(text, words_of(text, {"chat": 1.0, "chien": 0.3}), characters)
    shown = text_of(snippet)
    assert len(shown) <= characters
    assert f" {shown.strip()} " in f" {text} "
    assert text.startswith(shown) or not snippet.is_beginning
    assert text.endswith(shown) or not snippet.is_end
    if {"chat", "chien"} & set(words):
        assert any(piece.is_match for piece in snippet.pieces)
