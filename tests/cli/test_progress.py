"""cli/terminal.py: what a person sees of a run."""

import logging

import pytest

from cli.terminal import StageView
from pipeline.stages import StageEnd


def test_each_stage_is_a_line_of_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with StageView() as view:
        view.start(1, 3, "Transform")
        view.end(StageEnd(1, 3, "Transform", how="run", seconds=1.26))
        view.start(2, 3, "Trainer")
        view.end(StageEnd(2, 3, "Trainer", how="cached", seconds=0.01))
        view.start(3, 3, "Evaluator")
        view.end(StageEnd(3, 3, "Evaluator", how="restored", seconds=2.04))
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split() for line in err.splitlines()] == [
        ["[1/3]", "Transform", "1.3", "s"],
        ["[2/3]", "Trainer", "cached"],
        ["[3/3]", "Evaluator", "2.0", "s", "lost", "files", "restored"],
    ]


def test_messages_of_the_project_are_shown_and_a_library_s_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    with StageView():
        logging.getLogger("clir.training").info("training on [CPU:0]")
        logging.getLogger("tfx").info("chatter")
    err = capsys.readouterr().err
    assert "training on [CPU:0]" in err
    assert "chatter" not in err


def test_a_stage_that_fails_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), StageView() as view:
        view.start(2, 9, "Trainer")
        raise ZeroDivisionError
    assert "[2/9] Trainer: failed" in capsys.readouterr().err


def test_the_log_is_left_as_it_was() -> None:
    logger = logging.getLogger("clir")
    before = logger.handlers[:], logger.level, logger.propagate
    with StageView():
        pass
    assert (logger.handlers, logger.level, logger.propagate) == before
