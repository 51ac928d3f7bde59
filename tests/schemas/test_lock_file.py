"""Lock files: one process at a time, and no file that anyone else has is touched."""

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.output_folder import run_lock
from schemas import lock_file
from schemas.errors import DataError
from schemas.lock_file import held_lock
from smooth_clir.retrieval.index_versions import IndexVersions

pytestmark = pytest.mark.tensors

LOCKS = {
    "run, experiment, convert, wikipedia": run_lock,
    "index": lambda folder: IndexVersions(folder).writing(),
}
"""Every lock of the project, by the commands that take it; each locks `.lock` in a folder, which it makes."""


@pytest.fixture(params=LOCKS.values(), ids=LOCKS)
def lock(request: pytest.FixtureRequest) -> Callable:
    return request.param


@pytest.mark.parametrize("content", [None, "years of work"], ids=["to nothing", "to a file"])
def test_a_link_is_refused_and_its_target_stays(tmp_path: Path, lock: Callable, content: str | None) -> None:
    target, folder = tmp_path / "thesis.txt", tmp_path / "folder"
    folder.mkdir()
    (folder / ".lock").symlink_to(target)
    if content:
        target.write_text(content)
    with pytest.raises(DataError, match=rf"{folder}/\.lock"), lock(folder):
        pass
    assert (target.read_text() if target.exists() else None) == content


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(tmp_path: Path, lock: Callable, make: Callable[[Path], None]) -> None:
    make(tmp_path / ".lock")
    with pytest.raises(DataError, match=rf"{tmp_path}/\.lock"), lock(tmp_path):
        pass


def test_a_file_that_cannot_be_opened_is_refused_with_the_reason(tmp_path: Path, lock: Callable, monkeypatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match=r"\.lock .*Permission denied"), lock(tmp_path):
        pass


def test_a_file_with_content_keeps_it(tmp_path: Path, lock: Callable) -> None:
    (tmp_path / ".lock").write_text("a note")
    with lock(tmp_path):
        pass
    assert (tmp_path / ".lock").read_text() == "a note"


def test_a_missing_folder_is_made_and_free_again_afterwards(tmp_path: Path, lock: Callable) -> None:
    for _ in range(2):
        with lock(tmp_path / "new" / "output"):
            assert (tmp_path / "new" / "output").is_dir()


HOLD = """
import pathlib, sys, time
from pipeline.output_folder import run_lock

with run_lock(pathlib.Path(sys.argv[1])):
    print(flush=True)
    time.sleep(60)
"""


def test_another_process_is_refused_until_the_first_is_killed(tmp_path: Path, lock: Callable) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout and holder.stdout.readline()
        with pytest.raises(DataError, match=f"{tmp_path}"), lock(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
    with lock(tmp_path):
        pass


@pytest.mark.parametrize("freed", [True, False])
def test_a_lock_is_waited_for_which_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, freed: bool
) -> None:
    monkeypatch.setattr(lock_file, "_POLL_SECONDS", 0.05)
    path, is_held, ends = tmp_path / ".lock", threading.Event(), threading.Event()

    def hold() -> None:
        with held_lock(path, "busy."):
            is_held.set()
            ends.wait(0.3 if freed else None)

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    with caplog.at_level(logging.WARNING):
        if freed:
            with held_lock(path, "busy.", wait_seconds=20):
                pass
        else:
            with pytest.raises(DataError, match="another writes; wait"):
                with held_lock(path, "another writes; wait.", wait_seconds=0.3):
                    pass
    ends.set()
    holder.join()
    (message,) = caplog.messages
    assert str(tmp_path) in message and ("20 s" in message) == freed
