"""A small good collection, and the command line in this process."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.cli import main

CONFIG = """\
data:
  queries: wiki.queries
  documents: wiki.documents
  judgments: en2fr.rel
  query_language: en
  document_language: fr
output: out
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """A configuration of seven lines beside its files: one query, judged for two documents."""
    (tmp_path / "wiki.queries").write_text("q1\tWolf\tlives in packs\n")
    (tmp_path / "wiki.documents").write_text("d1\tLoup\tvit en meute\nd2\tChien\tgarde les maisons\n")
    (tmp_path / "en2fr.rel").write_text("q1\td1\t2\nq1\td2\t1\n")
    (tmp_path / "run.yaml").write_text(CONFIG)
    return tmp_path / "run.yaml"


class Answer(NamedTuple):
    """What a command left."""

    code: object
    out: str
    err: str


@pytest.fixture
def clir(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Runs `clir` in this process; for commands that end before TensorFlow is imported."""

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["clir", *map(str, arguments)])
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        return Answer(code, *capsys.readouterr())

    return run
