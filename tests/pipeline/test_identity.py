"""pipeline/identity.py: which edits and upgrades change a stage's digest."""

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
"""A project in which a stage imports five modules: directly, through another, and within a function."""
STAGE = "components.trainer.component"
READ = {
    "components/trainer/component.py", "models/rankers/ranker.py", "models/layers/cosine.py", "wikipedia/dumps.py",
    "schemas/names.py", "schemas/errors.py",
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, code in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)
    monkeypatch.setattr(identity, "_ROOT", tmp_path)
    return tmp_path


def test_edits_of_the_modules_that_the_stage_imports_change_its_digest_and_no_others_do(project: Path) -> None:
    before = code_digest(STAGE)
    changing = set()
    for name, code in FILES.items():
        (project / name).write_text(f"{code}\n# edited")
        if code_digest(STAGE) != before:
            changing.add(name)
        (project / name).write_text(code)
    assert {name for name in changing if not name.endswith("__init__.py")} == READ
    assert "components/other/__init__.py" not in changing


def test_stages_have_digests_of_their_own(project: Path) -> None:
    assert code_digest(STAGE) != code_digest("components.other.component")


def test_code_that_moves_to_another_module_changes_the_digest(project: Path) -> None:
    before = code_digest(STAGE)
    (project / "schemas/names.py").rename(project / "schemas/words.py")
    (project / "models/rankers/ranker.py").write_text("from schemas import words as n")
    assert code_digest(STAGE) != before


def test_an_upgrade_of_python_or_of_a_library_that_computes_changes_every_digest(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = dict.fromkeys(identity.LIBRARIES, "1")
    monkeypatch.setattr(identity, "version", versions.__getitem__)
    digests = {identity.identity([STAGE])}
    for library in versions:
        versions[library] = "2"
        digests.add(identity.identity([STAGE]))
    monkeypatch.setattr(identity.platform, "python_version", lambda: "3.10.99")
    assert len(digests | {identity.identity([STAGE])}) == len(versions) + 2
    assert {"tensorflow", "tfx", "numpy"} <= versions.keys()
