"""`make setup`: which stack it takes on which machine, and what it says where it can take none.

The script is the real one. The machine is a folder of commands: pythons that only say their version, and a `getconf`.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = ("sh", "dirname", "cat", "cksum", "grep", "env", "tail", "rm", "mkdir", "flock")
"""The commands that the script needs of any system."""

# What the script asks a Python for: its version and path, whether it has headers, and at last a .venv, which fails.
PYTHON = """#!/bin/sh
case "$2" in
*version_info*) echo "{version} $0" ;;
*Python.h*) exit {without_headers:d} ;;
*) echo "no .venv from here"; exit 7 ;;
esac
"""
UV = """#!/bin/sh
case "$1 $2" in
"--version ") echo "uv 1.0" ;;
"python find") test -e {fetched} && echo {fetched} ;;
"python install") {install} ;;
*) echo "no .venv from here"; exit 7 ;;
esac
"""


class Machine:
    """A checkout with the real script and locks, on a machine of these commands alone.

    Args:
      folder: an empty one.
      glibc: its version.
      pythons: the versions on PATH.
    """

    def __init__(self, folder: Path, glibc: str, pythons: Sequence[str]) -> None:
        self.checkout, self.bin = folder / "checkout", folder / "bin"
        self.bin.mkdir(parents=True)
        for name in ("tools", "locks"):
            (self.checkout / name).mkdir(parents=True)
        for path in (ROOT / "tools" / "bootstrap.sh", *(ROOT / "locks").iterdir(), *map(ROOT.joinpath, BUILD_FILES)):
            shutil.copy(path, self.checkout / path.relative_to(ROOT))
        for command in COMMANDS:
            (self.bin / command).symlink_to(shutil.which(command) or "")
        self.has("getconf", f"#!/bin/sh\necho glibc {glibc}\n")
        self.has("c++", "#!/bin/sh\n")
        for version in pythons:
            self.has_python(f"python{version}", version)

    def has(self, command: str, content: str) -> Path:
        """Adds a command."""
        path = self.bin / command
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)
        return path

    def has_python(self, command: str, version: str, without_headers: bool = False) -> Path:
        return self.has(command, PYTHON.format(version=version, without_headers=without_headers))

    def set_up(self, **environment: str) -> tuple[int, str]:
        """Runs the script; returns its exit code and what it says."""
        script = self.checkout / "tools" / "bootstrap.sh"
        variables = {"PATH": str(self.bin), **environment}
        done = subprocess.run([script], env=variables, capture_output=True, text=True)
        assert done.stdout == ""
        return done.returncode, done.stderr


BUILD_FILES = ("pyproject.toml", "setup.py")
OLDER, NEWER = "2.36", "2.41"


@pytest.mark.parametrize(
    ("glibc", "pythons", "environment", "lock", "python", "why"),
    [
        (NEWER, ["3.12"], {}, "2.21", "python3.12", ""),
        (NEWER, ["3.10", "3.12", "3.13"], {}, "2.21", "python3.13", ""),
        (NEWER, ["3.10"], {}, "2.15", "python3.10", ", because this is Python 3.10; CLIR_STACK=2.21 takes 2.21"),
        (NEWER, ["3.10", "3.13"], {"CLIR_STACK": "2.15"}, "2.15", "python3.10", ", because this is Python 3.10"),
        (NEWER, ["3.12"], {"CLIR_LOCK": "gpu"}, "2.21-gpu", "python3.12", ""),
        (OLDER, ["3.10", "3.12"], {}, "2.15", "python3.10", ", because 2.21 needs glibc 2.39 and this machine has"),
    ],
)
def test_the_newest_stack_that_the_machine_carries_is_taken_and_said_in_one_line(
    tmp_path: Path, glibc: str, pythons: list[str], environment: dict[str, str], lock: str, python: str, why: str
) -> None:
    machine = Machine(tmp_path, glibc, pythons)
    code, said = machine.set_up(**environment)
    taken, *then = said.splitlines()
    stack = lock.removesuffix("-gpu")
    assert taken.startswith(
        f"setup: making .venv from locks/{lock}.lock with {machine.bin / python}: TensorFlow {stack}{why}"
    )
    assert (code, then[0]) == (1, "no .venv from here")
    assert then[-1].startswith("setup: could not make .venv (exit 7); the lines above end .venv.log")


@pytest.mark.parametrize(
    ("glibc", "pythons", "environment", "fault"),
    [
        (
            NEWER,
            [],
            {},
            "Python 3.12, 3.13 or 3.10 is needed (this machine has glibc 2.41); found no Python, and there",
        ),
        (NEWER, ["3.10"], {"CLIR_STACK": "2.21"}, "Python 3.12 or 3.13 is needed (this machine has glibc 2.41); found"),
        (OLDER, ["3.12"], {}, "Python 3.10 is needed (this machine has glibc 2.36); found 3.12 at "),
        (OLDER, ["3.12"], {"CLIR_STACK": "2.21"}, "CLIR_STACK=2.21 needs glibc 2.39, which"),
        (NEWER, ["3.12"], {"CLIR_STACK": "2.20"}, "CLIR_STACK must be 2.15, 2.21 or unset; got '2.20'."),
        (NEWER, ["3.12"], {"CLIR_LOCK": "tpu"}, "CLIR_LOCK must be gpu or unset; got 'tpu'."),
    ],
)
def test_a_machine_without_a_fitting_python_or_with_a_wrong_choice_gets_one_sentence(
    tmp_path: Path, glibc: str, pythons: list[str], environment: dict[str, str], fault: str
) -> None:
    machine = Machine(tmp_path, glibc, pythons)
    code, said = machine.set_up(**environment)
    assert code == 1
    assert said.startswith(f"setup: {fault}")
    assert len(said.splitlines()) == 1
    assert not (machine.checkout / ".venv").exists()


def test_a_python_named_by_the_user_comes_first_and_a_shim_that_does_not_answer_is_none(tmp_path: Path) -> None:
    machine = Machine(tmp_path, NEWER, ["3.12"])
    machine.has("python3.13", "#!/bin/sh\necho 'python3.13: command not found' >&2\nexit 127\n")
    assert f"with {machine.bin / 'python3.12'}: TensorFlow 2.21 " in machine.set_up()[1]
    python = machine.has_python("../elsewhere/python", "3.13")
    assert f"with {python}: TensorFlow 2.21 " in machine.set_up(PYTHON=str(python))[1]


def test_what_a_package_is_built_with_is_asked_for_before_anything_is_installed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, NEWER, ["3.13"])
    python = machine.has_python("python3.13", "3.13", without_headers=True)
    without_headers = machine.set_up()
    machine.has_python("python3.13", "3.13")
    (machine.bin / "c++").unlink()
    assert machine.set_up() == without_headers
    code, said = without_headers
    assert code == 1 and str(python) in said and "install g++ and python3-dev" in said
    assert len(said.splitlines()) == 1


def test_uv_fetches_a_python_where_there_is_none(tmp_path: Path) -> None:
    machine = Machine(tmp_path, NEWER, [])
    machine.has_python("python3", "3.11")
    machine.has("uv", UV.format(fetched=tmp_path / "nowhere", install="exit 2"))
    code, said = machine.set_up()
    assert code == 1
    assert f"found 3.11 at {machine.bin / 'python3'}, and uv could not fetch one" in said
    hidden = machine.has_python("../uv/hidden", "3.13")
    fetched = hidden.with_name("fetched")
    machine.has("uv", UV.format(fetched=fetched, install=f"PATH={Path('/bin/mv').parent} mv {hidden} {fetched}"))
    assert f"with {fetched}: TensorFlow 2.21 " in machine.set_up()[1]


@pytest.mark.parametrize("kind", ["kept", "moved", "unfinished"])
def test_a_venv_keeps_its_stack_and_is_made_anew_where_it_was_moved_or_interrupted(tmp_path: Path, kind: str) -> None:
    machine = Machine(tmp_path, NEWER, ["3.13"])
    folder = machine.checkout / ".venv"
    machine.has_python(f"{folder}/bin/python", "3.10")
    path = tmp_path / "before" if kind == "moved" else folder
    (folder / "bin" / "activate").write_text(f"VIRTUAL_ENV={path}\n")
    if kind == "unfinished":
        (folder / "stamp").write_text("unfinished\n")
    said = machine.set_up()[1]
    if kind == "kept":
        assert said.startswith("setup: bringing .venv up to date from locks/2.15.lock with .venv/bin/python: ")
    else:
        assert said.startswith("setup: making .venv from locks/2.21.lock with ") and not folder.exists()
