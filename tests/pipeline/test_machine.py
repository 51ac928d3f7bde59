"""pipeline/machine.py: what a machine may lack, named before any stage."""

import _multiprocessing
import errno
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pipeline.machine import check_shared_memory, check_temporary_folder_for_patterns
from schemas.errors import DataError
from tests.cli.command import Clir

ROOT = Path(__file__).parents[2]
NO_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
FAULTS = pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.ENOENT, errno.ENOSYS])


def version(cwd: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Runs the smallest command in a process of its own."""
    command = [sys.executable, "-c", "import os, sys; from cli.main import main; os.chdir(sys.argv.pop()); main()"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run([*command, "--version", cwd], env=env, capture_output=True, text=True, check=False)


@pytest.mark.stages
@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (NO_UTF8, "the locale must be one of UTF-8, because .*; got ascii. Set LC_ALL=C.UTF-8."),
        ({"PYTHONOPTIMIZE": "2"}, "Python must keep docstrings, which TensorFlow reads; got -OO. Unset .*"),
    ],
)
def test_a_process_in_which_nothing_would_work_ends_in_a_sentence(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    done = version(tmp_path, **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(f"clir: {words}\n", done.stderr)


@pytest.mark.stages
def test_the_c_locale_and_asserts_that_are_left_out_are_no_fault(tmp_path: Path) -> None:
    done = version(tmp_path, LC_ALL="C", PYTHONOPTIMIZE="1")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_current_folder_that_was_removed_is_named(
    clir: Clir, config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, out, err = clir("run", config_file)
    assert (code, out) == (1, "")
    assert err == "clir: the current folder must be there; it was removed: change to another (cd).\n"


def arguments_of(command: str, folder: Path) -> tuple[object, ...]:
    """The arguments of a command on small files beside `run.yaml`."""
    (folder / "experiment.yaml").write_text("title: Seeds\nrun: run.yaml\ngrid: {training.seed: [1]}\noutput: out\n")
    (folder / "candidates").write_text("q1\td1\t2\ttest\nq1\td2\t1\ttest\n")
    (folder / "saved_model.pb").write_bytes(b"")
    of_collection = ("--queries", folder / "wiki.queries", "--documents", folder / "wiki.documents")
    return {
        "run": (folder / "run.yaml",),
        "experiment": (folder / "experiment.yaml",),
        "evaluate": (folder, *of_collection, "--candidates", folder / "candidates", "--output", folder / "out"),
        "wikipedia": (
            ROOT / "configs" / "wikipedia" / "sample.yaml", "--processes", 2, "--set", f"output={folder / 'out'}",
        ),
    }[command]  # fmt: skip


def without_shared_memory(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Lets the system refuse every lock of processes."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(_multiprocessing, "SemLock", refuse)


def test_this_machine_has_shared_memory() -> None:
    check_shared_memory()


@FAULTS
def test_shared_memory_that_takes_no_lock_is_named(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    without_shared_memory(monkeypatch, number)
    with pytest.raises(DataError) as error:
        check_shared_memory()
    assert str(error.value).startswith("/dev/shm must take 8 small files, because the locks of processes lie there; ")
    assert f"it cannot: {os.strerror(number)}. Mount it so that it can be written" in str(error.value)


@pytest.mark.parametrize("command", ["run", "experiment", "evaluate"])
def test_a_machine_without_a_temporary_folder_is_named(
    clir: Clir, config_file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/none/such"])
    code, out, err = clir(command, *arguments_of(command, config_file.parent))
    assert (code, out) == (1, "")
    assert "clir: a temporary folder must be there and take files: No usable temporary directory found in " in err
    assert "['/none/such']. Set TMPDIR." in err


@pytest.mark.parametrize("command", ["run", "experiment", "evaluate", "wikipedia"])
def test_commands_that_need_locks_end_before_they_write_anything(
    clir: Clir, config_file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = config_file.parent
    without_shared_memory(monkeypatch, errno.EROFS)
    code, out, err = clir(command, *arguments_of(command, folder))
    assert (code, out) == (1, "")
    assert "clir: /dev/shm must take 8 small files" in err
    assert [path for path in (folder / "out").glob("*") if path.name != ".lock"] == []


def test_a_single_process_reads_dumps_without_shared_memory(
    clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_shared_memory(monkeypatch, errno.EROFS)
    config = ROOT / "configs" / "wikipedia" / "sample.yaml"
    assert clir("wikipedia", config, "--processes", 1, "--set", f"output={tmp_path / 'out'}").code == 0


@pytest.mark.parametrize("sign", "[]*?\\")
def test_a_temporary_folder_with_signs_of_patterns_is_named(monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", f"/tmp/a{sign}b")
    with pytest.raises(DataError, match="the path of the temporary folder must hold none of .* for Beam finds its"):
        check_temporary_folder_for_patterns()
