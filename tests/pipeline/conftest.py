"""A small good collection, and the command line in this process."""

from pathlib import Path

import pytest

from tests.pipeline.command import Clir

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


@pytest.fixture
def clir(monkeypatch: pytest.MonkeyPatch) -> Clir:
    """Runs `clir` in this process."""
    return Clir(monkeypatch)
