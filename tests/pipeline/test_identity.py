"""pipeline/identity.py: which edits and upgrades change a stage's digest."""

import re
import subprocess
from pathlib import Path

import pytest

from pipeline import identity
from pipeline.identity import code_digest

FILES = {
    "schemas/__init__.py": "",
    "schemas/errors.py": "",
    "schemas/names.py": "NAME = 'name'",
    "smooth_clir/wikipedia/__init__.py": "",
    "smooth_clir/wikipedia/dumps.py": "",
    "models/__init__.py": "",
    "models/rankers/ranker.py": "from schemas import names as n",
    "models/layers/__init__.py": "",
    "models/layers/cosine.py": "import math",
    "models/unused.py": "import models.rankers.ranker",
    "components/__init__.py": "",
    "components/trainer/__init__.py": "",
    "components/trainer/component.py": "import json\nfrom models.rankers.ranker import R\nimport models.layers.cosine\n"
    "import smooth_clir.wikipedia.dumps\n"
    "def do():\n    from schemas.errors import DataError",
    "components/other/__init__.py": "",
    "components/other/component.py": "from components.trainer import component",
}
"""A project in which a stage imports five modules: directly, through another, and within a function."""
STAGE = "components.trainer.component"
READ = {
    "components/trainer/component.py", "models/rankers/ranker.py", "models/layers/cosine.py", "schemas/names.py",
    "schemas/errors.py", "smooth_clir/wikipedia/dumps.py",
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
        (project / name).write_text(f"{code}\nEDITED = True")
        if code_digest(STAGE) != before:
            changing.add(name)
        (project / name).write_text(code)
    assert {name for name in changing if not name.endswith("__init__.py")} == READ
    assert "components/other/__init__.py" not in changing


CODE = """class Scorer(Base):
    size = 3

    def score(self, query):
        return "a'b" + query + "é"
"""
SAME = {
    "a comment": CODE.replace("size = 3", "size = 3  # of the vectors"),
    "docstrings": CODE.replace("    size", '    """Scores."""\n    size').replace("3\n", "3\n    'Width.'\n"),
    "a docstring of the module": f"'''Scores.'''\n{CODE}",
    "layout": CODE.replace("size = 3", "size = (\n        3)"),
    "quotes": CODE.replace('"é"', "'\\xe9'"),
}
OTHER = {
    "a number": CODE.replace("3", "3.0"),
    "a text": CODE.replace("a'b", "a'c"),
    "a name": CODE.replace("score(", "rank("),
    "a default": CODE.replace("query)", "query=None)", 1),
    "a base": CODE.replace("(Base)", ""),
    "a returned text": CODE.replace("return", "return 'Scores.' +"),
}


@pytest.mark.parametrize(("kind", "code"), [*SAME.items(), *OTHER.items()], ids=[*SAME, *OTHER])
def test_comments_docstrings_and_layout_change_no_digest_and_all_else_does(project: Path, kind: str, code: str) -> None:
    module = project / "models/layers/cosine.py"
    module.write_text(CODE)
    before = code_digest(STAGE), identity.identity_of_all_stages()
    module.write_text(code)
    assert code != CODE
    same = [
        new == old for new, old in zip((code_digest(STAGE), identity.identity_of_all_stages()), before, strict=True)
    ]
    assert same == [kind in SAME] * 2


def test_code_that_is_read_once_has_its_first_digest_until_the_end(project: Path) -> None:
    with identity.code_read_once():
        before = code_digest(STAGE)
        (project / "schemas/names.py").write_text("NAME = 'another'")
        assert code_digest(STAGE) == before
        assert code_digest("components.other.component") not in (before, "")
    assert code_digest(STAGE) != before


def test_the_commit_is_that_of_the_code_and_none_where_it_differs_or_is_another_projects(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", "-C", project, *author, *words], check=True, capture_output=True)

    assert identity.commit() is None
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    (project / "README.md").write_text("not code")
    assert re.fullmatch("[0-9a-f]{40}", identity.commit() or "")
    (project / "models/unused.py").write_text("changed = 1")
    assert identity.commit() is None
    git("commit", "-am", "second")
    monkeypatch.setattr(identity, "_ROOT", project / "models")
    assert identity.commit() is None


def test_the_code_of_an_identity_is_the_same_with_other_libraries(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identity.identity([STAGE])
    monkeypatch.setattr(identity.platform, "python_version", lambda: "3.10.99")
    after = identity.identity([STAGE])
    assert (after != before, identity.code_of(after)) == (True, identity.code_of(before))


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
