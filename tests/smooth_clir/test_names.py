"""smooth_clir: files and folders of the user's with the names of the project's packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smooth_clir.packages import PACKAGES
from tests.test_imports import MAY_IMPORT

ROOT = Path(__file__).parents[2]
IN_THE_WAY = pytest.mark.parametrize(
    ("file", "name"),
    [
        ("models.py", "models"),
        ("pipeline.py", "pipeline"),
        ("cli/__init__.py", "cli"),
        ("schemas/__init__.py", "schemas"),
    ],
)


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
    assert {*PACKAGES, "smooth_clir"} == MAY_IMPORT.keys()


@IN_THE_WAY
def test_a_users_own_module_in_the_way_is_named_in_a_sentence(tmp_path: Path, file: str, name: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")
    done = python(tmp_path, "from smooth_clir import Ranker")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        f"ImportError: the package {name} must be the one beside {ROOT / 'smooth_clir'}; Python found"
    )
    assert f"{tmp_path / file} first. Rename that file or folder" in last


@IN_THE_WAY
def test_clir_names_it_in_one_line_and_runs_nothing_of_it(tmp_path: Path, file: str, name: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("print('imported')")
    done = python(tmp_path, "from smooth_clir.command import main; main()")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"clir: the package {name} must be the one beside {ROOT / 'smooth_clir'}; Python found")
    assert f"{tmp_path / file} first. Rename that file or folder" in line


def test_a_folder_without_code_is_in_no_way(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    done = python(tmp_path, "from smooth_clir.packages import check_packages; check_packages()")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.stages
def test_clir_starts_without_tensorflow() -> None:
    code = "import sys, smooth_clir.command, cli.main; print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
