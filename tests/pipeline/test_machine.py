"""pipeline/machine.py: what a machine may lack, named before any stage."""

import _multiprocessing
import errno
import os
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
PROGRAM = "import os, sys; from smooth_clir.cli.main import main; os.chdir(sys.argv.pop()); main()"


@pytest.mark.stages
@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        (NO_UTF8, ["ascii", "LC_ALL"]),
        ({"PYTHONOPTIMIZE": "2"}, ["-OO", "PYTHONOPTIMIZE"]),
        ({"LC_ALL": "C", "PYTHONOPTIMIZE": "1"}, []),  # no fault
    ],
)
def test_a_process_in_which_nothing_would_work_ends_in_a_sentence(tmp_path: Path, variables, shown: list[str]) -> None:
    command = [sys.executable, "-c", PROGRAM, "--version", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n"), done.stdout == "") == ((1, 1, True) if shown else (0, 0, False))
    assert all(text in done.stderr for text in shown)


def test_a_current_folder_that_was_removed_is_named(clir: Clir, config_file: Path, monkeypatch) -> None:
    gone = config_file.parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, out, err = clir("run", config_file)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "current folder" in err


def arguments_of(command: str, folder: Path) -> tuple[object, ...]:
    """The arguments of a command on small files beside `run.yaml`."""
    (folder / "experiment.yaml").write_text("title: Seeds\nrun: run.yaml\ngrid: {training.seed: [1]}\noutput: out\n")
    (folder / "candidates").write_text("q1\td1\t2\ttest\nq1\td2\t1\ttest\n")
    (folder / "saved_model.pb").write_bytes(b"")
    collection = ("--queries", folder / "wiki.queries", "--documents", folder / "wiki.documents")
    return {
        "run": (folder / "run.yaml",),
        "experiment": (folder / "experiment.yaml",),
        "evaluate": (folder, *collection, "--candidates", folder / "candidates", "--output", folder / "out"),
        "wikipedia": (
            ROOT / "configs" / "wikipedia" / "sample.yaml", "--processes", 2, "--set", f"output={folder / 'out'}",
        ),
    }[command]  # fmt: skip


def refuse_locks(monkeypatch: pytest.MonkeyPatch, number: int = errno.EROFS) -> None:
    """Lets the system refuse every lock of processes."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(_multiprocessing, "SemLock", refuse)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.ENOSYS])
def test_shared_memory_that_takes_no_lock_is_named(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    check_shared_memory()
    refuse_locks(monkeypatch, number)
    with pytest.raises(DataError, match=f"/dev/shm: {os.strerror(number)}"):
        check_shared_memory()


@pytest.mark.parametrize("command", ["run", "experiment", "evaluate"])
def test_a_machine_without_a_temporary_folder_is_named(
    clir: Clir, config_file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/none/such"])
    code, out, err = clir(command, *arguments_of(command, config_file.parent))
    assert (code, out) == (1, "")
    assert "/none/such" in err and "TMPDIR" in err


@pytest.mark.parametrize("command", ["run", "experiment", "evaluate", "wikipedia"])
def test_commands_that_need_locks_end_before_they_write_anything(
    clir: Clir, config_file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    refuse_locks(monkeypatch)
    code, out, err = clir(command, *arguments_of(command, config_file.parent))
    assert (code, out) == (1, "")
    assert "/dev/shm" in err
    assert [path for path in (config_file.parent / "out").glob("*") if path.name != ".lock"] == []


def test_a_single_process_reads_dumps_without_shared_memory(clir: Clir, tmp_path: Path, monkeypatch) -> None:
    refuse_locks(monkeypatch)
    config = ROOT / "configs" / "wikipedia" / "sample.yaml"
    assert clir("wikipedia", config, "--processes", 1, "--set", f"output={tmp_path / 'out'}").code == 0


@pytest.mark.parametrize("sign", "[]*?\\")
def test_a_temporary_folder_with_signs_of_patterns_is_named(monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", f"/tmp/a{sign}b")
    with pytest.raises(DataError, match="TMPDIR"):
        check_temporary_folder_for_patterns()
