"""pipeline/identity.py: which edits change a stage's digest."""

from pathlib import Path

import pytest

from pipeline import identity
from pipeline.identity import code_digest

FILES = {
    "schemas/__init__.py": "",
    "schemas/errors.py": "",
    "schemas/names.py": "NAME = 'name'",
    "wikipedia/__init__.py": "",
    "wikipedia/dumps.py": "",
    "models/__init__.py": "",
    "models/rankers/ranker.py": "from schemas import names as n",
    "models/layers/__init__.py": "",
    "models/layers/cosine.py": "import math",
    "models/unused.py": "import models.rankers.ranker",
    "components/__init__.py": "",
    "components/trainer/__init__.py": "",
    "components/trainer/component.py": "import json\nfrom models.rankers.ranker import R\nimport models.layers.cosine\n"
    "import wikipedia.dumps\n"
    "def do():\n    from schemas.errors import DataError",
    "components/other/__init__.py": "",
    "components/other/component.py": "from components.trainer import component",
}
STAGE = "components.trainer.component"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which a stage imports five modules: directly, through another, and within a function."""
    for name, code in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)
    monkeypatch.setattr(identity, "_ROOT", tmp_path)
    return tmp_path


def edit(path: Path) -> None:
    path.write_text(path.read_text() + "\n# edited")


@pytest.mark.parametrize(
    "name",
    [
        "components/trainer/component.py",
        "models/rankers/ranker.py",
        "models/layers/cosine.py",
        "wikipedia/dumps.py",
        "schemas/names.py",
        "schemas/errors.py",
    ],
)
def test_an_edit_of_a_module_that_the_stage_imports_changes_its_digest(tree: Path, name: str) -> None:
    before = code_digest(STAGE)
    edit(tree / name)
    assert code_digest(STAGE) != before


@pytest.mark.parametrize("name", ["models/unused.py", "components/other/component.py", "components/other/__init__.py"])
def test_an_edit_of_another_module_leaves_the_digest(tree: Path, name: str) -> None:
    before = code_digest(STAGE)
    edit(tree / name)
    assert code_digest(STAGE) == before


def test_stages_have_digests_of_their_own(tree: Path) -> None:
    assert code_digest(STAGE) != code_digest("components.other.component")


def test_code_that_moves_to_another_module_changes_the_digest(tree: Path) -> None:
    before = code_digest(STAGE)
    (tree / "schemas/names.py").rename(tree / "schemas/words.py")
    (tree / "models/rankers/ranker.py").write_text("from schemas import words as n")
    assert code_digest(STAGE) != before
