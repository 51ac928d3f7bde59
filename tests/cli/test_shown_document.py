"""`cli/shown_document.py`: a document of a result is two lines, and its text cannot command a terminal."""

import io
import re
from contextlib import redirect_stdout

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smooth_clir.cli.shown_document import show_document, snippet_characters
from smooth_clir.retrieval.snippet import Piece, Snippet, Word, make_snippet
from tests.cli.command import Terminal

pytestmark = pytest.mark.tensors

ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\u2028"
"""Commands that name the window, clear the screen and colour the text, and marks that turn a line or end it."""
LONG = "mot " * 40 + "chat" + " mot" * 40


@pytest.fixture(autouse=True)
def a_terminal_of_60_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)


def lines_of(title: str, text: str, matching: str = "", on_terminal: bool = True) -> list[str]:
    """The lines of a document whose words are between spaces."""
    words = [Word(*word.span(), word[0], float(word[0] == matching)) for word in re.finditer(r"[^ ]+", text)]
    with redirect_stdout(Terminal() if on_terminal else io.StringIO()) as out:
        show_document(1, 0.5, None, "d1", title, text, make_snippet(text, words, snippet_characters()))
    return out.getvalue().removesuffix("\n").split("\n")


@pytest.mark.parametrize(("no_color", "is_bold"), [(None, True), ("", True), ("0", False), ("1", False)])
def test_words_that_match_are_bold_on_a_terminal_that_allows_it(
    monkeypatch: pytest.MonkeyPatch, no_color: str | None, is_bold: bool
) -> None:
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    chat = "\x1b[1mchat\x1b[0m" if is_bold else "chat"
    assert lines_of("Chat", "un chat blanc", "chat") == ["  1   0.5000  d1  Chat", f"     un {chat} blanc"]


@pytest.mark.parametrize(
    ("columns", "on_terminal", "text", "pattern", "limits"),
    [
        ("60", True, LONG, r"     … (mot )+chat( mot)+ …", (51, 60)),
        ("60", False, LONG, r"     … (mot )+chat( mot)+ …", (91, 100)),
        ("60", True, "mot " * 40, r"     mot( mot)+ …", (51, 60)),
        ("60", True, "北京大学" * 50, r"     (北京大学)+[北京大]* …", (51, 60)),
        ("3", True, "mot " * 40, "     mot mot mot mot mot …", (26, 26)),
    ],
)
def test_the_line_of_a_text_is_no_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: str, on_terminal: bool, text: str, pattern: str, limits: tuple[int, int]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    line = click.unstyle(lines_of("Mot", text, "chat", on_terminal)[1])
    assert re.fullmatch(pattern, line)
    assert limits[0] <= len(line) <= limits[1]


@pytest.mark.parametrize(("title", "text"), [("", " un" + " loup" * 20), (" ", "un chat" * 20), ("", "北京大学" * 50)])
def test_a_document_without_a_title_shows_its_first_words(title: str, text: str) -> None:
    head, _ = lines_of(title, text)
    assert head == f"  1   0.5000  d1  {text.strip()[:60]}…"


@given(st.text() | st.just(ESCAPES), st.booleans())
def test_no_control_sequence_of_a_document_reaches_the_terminal(text: str, has_title: bool) -> None:
    pieces = (Piece(text=text, is_match=True), Piece(text=text, is_match=False))
    with redirect_stdout(Terminal()) as out:
        snippet = Snippet(pieces=pieces, is_beginning=False, is_end=False)
        show_document(1, 0.5, None, text, text if has_title else "", text, snippet)
    head, line, end = out.getvalue().split("\n")
    assert (head + end).isprintable()
    matching, _, following = line.removeprefix("     … \x1b[1m").partition("\x1b[0m")
    assert (matching + following).isprintable()
    assert len(matching + following) == 2 * len(text) + len(" …")


@pytest.mark.parametrize(
    ("rank", "score", "share", "shown"),
    [
        (1, 0.5, 0.824, "  1   0.5000   82 % relevant  d1  Chat\n"),
        (1, 0.5, 0.0, "  1   0.5000   <1 % relevant  d1  Chat\n"),
        (1, 0.5, 1.0, "  1   0.5000  >99 % relevant  d1  Chat\n"),
        (12, -0.25, None, " 12  -0.2500  d1  Chat\n"),
    ],
)
def test_the_share_of_relevant_documents_follows_the_score(
    rank: int, score: float, share: float | None, shown: str
) -> None:
    with redirect_stdout(io.StringIO()) as out:
        show_document(rank, score, share, "d1", "Chat", "un chat", None)
    assert out.getvalue() == shown
