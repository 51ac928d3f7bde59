"""cli/terminal.py: no text of a user's files or of a library commands a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.terminal import StageView, say, show, show_json

ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e"
"""Commands that name the window, clear the screen and colour the text, and a mark that turns its direction."""


def is_plain(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@given(st.text() | st.just(ESCAPES))
def test_whatever_is_said_or_shown_can_be_printed(text: str) -> None:
    capture = pytest.MonkeyPatch()
    said: list[str] = []
    with capture.context() as patch:
        patch.setattr("click.echo", lambda line, err=False: said.append(line))
        say(text)
        show(text)
        show_json({"title": text})
    assert all(map(is_plain, said))
    assert json.loads(said[-1]) == {"title": text}  # machines get it unchanged


def test_lines_stay_lines_and_none_is_endless(capsys: pytest.CaptureFixture[str]) -> None:
    show("one\ntwo")
    assert capsys.readouterr().out == "one\ntwo\n"
    say("a" * 10**6)
    assert len(capsys.readouterr().err) < 5000


def test_a_stage_and_a_message_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with StageView() as view:
        view.start(0, 0, f"reading {ESCAPES}")
        view.say(f"read {ESCAPES}")
    assert is_plain(capsys.readouterr().err)
