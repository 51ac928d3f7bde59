"""smooth_clir/__init__.py: modules of the user's with the names of the project's packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from smooth_clir import PACKAGES
from tests.test_imports import MAY_IMPORT

ROOT = Path(__file__).parents[2]


def test_every_room_is_checked() -> None:
    assert {*PACKAGES, "smooth_clir"} == MAY_IMPORT.keys()


@pytest.mark.parametrize(("file", "name"), [("models.py", "models"), ("cli/__init__.py", "cli")])
def test_a_users_own_module_in_the_way_is_named_in_a_sentence(tmp_path: Path, file: str, name: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import smooth_clir"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        f"ImportError: the package {name} must be the one beside {ROOT / 'smooth_clir'}; Python found"
    )
    assert f"{tmp_path / file} first. Rename that file or folder" in last
