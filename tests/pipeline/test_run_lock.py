"""pipeline/run_lock.py: one run at a time in an output folder."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.run_lock import run_lock
from schemas.errors import DataError

HOLD = """
import pathlib, sys, time
from pipeline.run_lock import run_lock

with run_lock(pathlib.Path(sys.argv[1])):
    print(flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that holds `tmp_path`."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_second_run_is_refused_while_the_first_lives(tmp_path: Path, holder: subprocess.Popen) -> None:
    with pytest.raises(DataError, match="another run is at work there"), run_lock(tmp_path):
        pass


def test_the_lock_dies_with_its_process(tmp_path: Path, holder: subprocess.Popen) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with run_lock(tmp_path):
        pass


def test_a_missing_folder_is_made_and_free_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with run_lock(tmp_path / "new" / "output"):
            assert (tmp_path / "new" / "output").is_dir()


def test_a_folder_in_the_place_of_the_lock_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with pytest.raises(DataError, match=r"\.lock must be a file that you can write.*move it away"), run_lock(tmp_path):
        pass


def test_another_user_s_lock_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("builtins.open", refuse)
    with (
        pytest.raises(DataError, match="Permission denied: move it away, or choose another output"),
        run_lock(tmp_path),
    ):
        pass
