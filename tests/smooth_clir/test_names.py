"""smooth_clir: files and folders of the user's with the names of the project's packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smooth_clir.packages import PACKAGES
from tests.test_imports import ROOTS

ROOT = Path(__file__).parents[2]
COMMAND = "from smooth_clir.command import main; main()"


def python(tmp_path: Path, code: str) -> "subprocess.CompletedProcess[str]":
    """Runs code where the user's folder comes before the project's on Python's path."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_room_is_checked() -> None:
    assert {*PACKAGES, "smooth_clir"} == {*ROOTS}


@pytest.mark.parametrize(
    ("file", "name", "code", "status"),
    [
        ("models.py", "models", COMMAND, 2),
        ("schemas/__init__.py", "schemas", COMMAND, 2),
        ("components/__init__.py", "components", COMMAND, 2),
        ("pipeline.py", "pipeline", "from smooth_clir import Ranker", 1),
    ],
)
def test_a_users_own_module_in_the_way_is_named_and_nothing_of_it_runs(
    tmp_path: Path, file: str, name: str, code: str, status: int
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("print('imported')")
    process = python(tmp_path, code)
    assert (process.returncode, process.stdout) == (status, "")
    *traceback, last = process.stderr.splitlines()
    assert last.startswith(f"{'clir' if status == 2 else 'ImportError'}: the package {name} ")
    assert str(ROOT / name) in last and str(tmp_path / file) in last
    assert bool(traceback) == (status == 1)


def test_a_folder_without_code_is_in_no_way(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    process = python(tmp_path, "from smooth_clir.packages import check_packages; check_packages()")
    assert (process.returncode, process.stderr) == (0, "")
