"""`cli/shown_document.py`: a found document is two lines, and its text cannot command a terminal."""

import io
import re
from contextlib import redirect_stdout

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.shown_document import show_document, snippet_characters
from serving.snippet import Piece, Snippet, Word, make_snippet
from tests.cli.command import Terminal

pytestmark = pytest.mark.tensors

ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\u2028"
"""Commands that name the window, clear the screen and colour the text, and marks that turn a line or end it."""


@pytest.fixture(autouse=True)
def a_terminal_of_60_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)


def shown(title: str, text: str, matching: str = "", on_terminal: bool = True) -> list[str]:
    """The lines of a document whose words are between spaces."""
    words = [Word(*one.span(), one[0], float(one[0] == matching)) for one in re.finditer(r"[^ ]+", text)]
    with redirect_stdout(Terminal() if on_terminal else io.StringIO()) as out:
        show_document(1, 0.5, None, "d1", title, text, make_snippet(text, words, snippet_characters()))
    return out.getvalue().removesuffix("\n").split("\n")


def test_words_that_match_are_bold_on_a_terminal() -> None:
    assert shown("Chat", "un chat blanc", "chat") == ["  1   0.5000  d1  Chat", "     un \x1b[1mchat\x1b[0m blanc"]


@pytest.mark.parametrize(("value", "is_bold"), [("1", False), ("0", False), ("", True)])
def test_no_color_leaves_words_without_a_mark(monkeypatch: pytest.MonkeyPatch, value: str, is_bold: bool) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    _, line = shown("Chat", "un chat blanc", "chat")
    assert click.unstyle(line) == "     un chat blanc"
    assert (line != click.unstyle(line)) == is_bold


def test_where_there_is_no_terminal_words_have_no_mark_and_lines_100_characters() -> None:
    _, line = shown("Chat", "mot " * 40 + "chat" + " mot" * 40, "chat", on_terminal=False)
    assert re.fullmatch(r"     … (mot )+chat( mot)+ …", line)
    assert 90 < len(line) <= 100


def test_the_line_of_a_text_is_no_wider_than_the_terminal() -> None:
    _, line = shown("Chat", "mot " * 40 + "chat" + " mot" * 40, "chat")
    assert re.fullmatch(r"     … (mot )+chat( mot)+ …", click.unstyle(line))
    assert 50 < len(click.unstyle(line)) <= 60


@pytest.mark.parametrize("title", ["", " "])
def test_a_document_without_a_title_shows_its_first_words(title: str) -> None:
    text = " un" + " loup" * 20
    head, _ = shown(title, text)
    assert head == f"  1   0.5000  d1  {text.strip()[:60]}…"


def test_a_text_without_a_matching_word_shows_its_beginning() -> None:
    _, line = shown("Mot", "mot " * 40)
    assert re.fullmatch(r"     mot( mot)+ …", line)


def test_without_a_snippet_only_the_title_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_document(12, -0.25, None, "d1", "Chat", "un chat", None)
    assert capsys.readouterr().out == " 12  -0.2500  d1  Chat\n"


def test_a_text_without_spaces_is_cut_between_characters() -> None:
    text = "北京大学" * 50
    head, line = shown("", text)
    assert head.endswith(f"  {text[:60]}…")
    assert re.fullmatch(r"     (北京大学)+[北京大]* …", line)
    assert 50 < len(line) <= 60


def test_a_narrow_terminal_still_shows_some_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "3")
    assert shown("Mot", "mot " * 40)[1] == "     mot mot mot mot mot …"


@given(st.text() | st.just(ESCAPES), st.booleans())
def test_no_control_sequence_of_a_document_reaches_the_terminal(text: str, has_title: bool) -> None:
    pieces = (Piece(text=text, is_match=True), Piece(text=text, is_match=False))
    with redirect_stdout(Terminal()) as out:
        snippet = Snippet(pieces=pieces, is_beginning=False, is_end=False)
        show_document(1, 0.5, None, text, text if has_title else "", text, snippet)
    head, line, end = out.getvalue().split("\n")
    assert (head + end).isprintable()
    matching, _, other = line.removeprefix("     … \x1b[1m").partition("\x1b[0m")
    assert (matching + other).isprintable()
    assert len(matching + other) == 2 * len(text) + len(" …")


@pytest.mark.parametrize(
    ("share", "shown"), [(0.824, " 82 % relevant"), (0.0, " <1 % relevant"), (1.0, ">99 % relevant")]
)
def test_the_share_of_relevant_documents_follows_the_score(share: float, shown: str) -> None:
    with redirect_stdout(io.StringIO()) as out:
        show_document(1, 0.5, share, "d1", "Chat", "un chat", None)
    assert out.getvalue() == f"  1   0.5000  {shown}  d1  Chat\n"
