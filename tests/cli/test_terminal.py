"""Output of the command line: stages are lines, and no text of a user's files or of a library commands a terminal."""

import json
import logging
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.stages import StageEnd
from smooth_clir.cli.terminal import StageView, for_shell, program, say, show, show_json

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


@pytest.mark.parametrize(
    ("called", "path", "shown", "beside"),
    [
        ("bin/clir", "bin", "clir", "kfp"),
        ("bin/clir", "", "bin/clir", "bin/kfp"),
        ("bin/clir", "other", "bin/clir", "bin/kfp"),
        ("my bin/clir", "other", "'my bin/clir'", "'my bin/kfp'"),
        ("gone/clir", "bin", "environment/clir", "environment/kfp"),
        ("link to clir", "bin", "environment/clir", "environment/kfp"),
        ("smooth_clir/__main__.py", "bin", "{python} -m smooth_clir", "environment/kfp"),
        ("-c", "environment", "clir", "kfp"),
        ("/usr/bin/pytest", "bin", "environment/clir", "environment/kfp"),
    ],
)
def test_the_program_is_named_as_it_was_called_and_by_its_name_where_the_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, called: str, path: str, shown: str, beside: str
) -> None:
    for folder in ("bin", "other", "my bin", "environment"):
        (tmp_path / folder).mkdir()
        for name in ("clir", "kfp"):
            (tmp_path / folder / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "environment" / "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setenv("PATH", path and str(tmp_path / path))
    assert program() == shown.format(python=for_shell(sys.executable))
    assert program("kfp") == beside


def test_lines_stay_lines_and_none_is_endless(capsys: pytest.CaptureFixture[str]) -> None:
    show("one\ntwo")
    assert capsys.readouterr().out == "one\ntwo\n"
    say("a" * 10**6)
    assert len(capsys.readouterr().err) < 5000


def test_each_stage_is_a_line_of_stderr_that_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("clir")
    before = logger.handlers[:], logger.level, logger.propagate
    ends = [("Transform", "run", 1.26), ("Trainer", "cached", 0.01), ("Evaluator", "restored", 2.04)]
    with StageView() as view:
        for number, (name, how, seconds) in enumerate(ends, 1):
            view.start(number, 3, name)
            view.end(StageEnd(number, 3, name, how=how, seconds=seconds))  # type: ignore[arg-type]
        view.start(0, 0, f"reading {ESCAPES}")
        view.say(f"read {ESCAPES}")
        logging.getLogger("clir.training").info("training on [CPU:0]")
        logging.getLogger("tfx").info("chatter")
    out, err = capsys.readouterr()
    assert (out, is_plain(err)) == ("", True)
    assert [line.split() for line in err.splitlines()][:3] == [
        ["[1/3]", "Transform", "1.3", "s"],
        ["[2/3]", "Trainer", "cached"],
        ["[3/3]", "Evaluator", "2.0", "s", "lost", "or", "changed", "files", "restored"],
    ]
    assert "training on [CPU:0]" in err and "chatter" not in err
    assert (logger.handlers, logger.level, logger.propagate) == before


def test_a_stage_that_fails_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), StageView() as view:
        view.start(2, 9, "Trainer")
        raise ZeroDivisionError
    assert "[2/9] Trainer: failed" in capsys.readouterr().err
