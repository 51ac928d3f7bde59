"""Lock files: one process at a time, and no file that anyone else has is touched."""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from components.index_pusher.index_versions import IndexVersions
from pipeline.output_folder import run_lock
from schemas.errors import DataError
from schemas.lock_file import held_lock

pytestmark = pytest.mark.tensors

LOCKS: dict[str, Callable[[Path], AbstractContextManager[None]]] = {
    "run, experiment, convert, wikipedia": run_lock,
    "index": lambda folder: IndexVersions(folder).writing(),
}
"""Every lock of the project, by the commands that take it; each locks `.lock` in a folder."""


@pytest.fixture(params=LOCKS.values(), ids=LOCKS.keys())
def lock(request: pytest.FixtureRequest) -> Callable[[Path], AbstractContextManager[None]]:
    found: Callable[[Path], AbstractContextManager[None]] = request.param
    return found


def test_a_link_is_refused_and_its_target_stays(tmp_path: Path, lock: Callable) -> None:
    target, folder = tmp_path / "thesis.txt", tmp_path / "folder"
    target.write_text("years of work")
    folder.mkdir()
    (folder / ".lock").symlink_to(target)
    with pytest.raises(DataError, match=r"\.lock must be a file that you can write.*it is a link: move it away"):
        with lock(folder):
            pass
    assert target.read_text() == "years of work"


def test_a_link_to_nothing_makes_no_file_there(tmp_path: Path, lock: Callable) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / ".lock").symlink_to(tmp_path / "nothing")
    with pytest.raises(DataError, match="it is a link"), lock(tmp_path / "folder"):
        pass
    assert not (tmp_path / "nothing").exists()


def test_a_file_with_content_keeps_it(tmp_path: Path, lock: Callable) -> None:
    (tmp_path / ".lock").write_text("a note")
    with lock(tmp_path):
        pass
    assert (tmp_path / ".lock").read_text() == "a note"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(tmp_path: Path, lock: Callable, make: Callable[[Path], None]) -> None:
    make(tmp_path / ".lock")
    with pytest.raises(DataError, match="it is no file: move it away"), lock(tmp_path):
        pass


@pytest.mark.stages
def test_a_lock_that_is_freed_in_time_is_taken(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, is_held = tmp_path / ".lock", threading.Event()

    def hold() -> None:
        with held_lock(path, "busy."):
            is_held.set()
            threading.Event().wait(0.5)

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    with caplog.at_level(logging.WARNING), held_lock(path, "busy.", wait_seconds=20):
        pass
    assert caplog.messages == [f"waiting at most 20 s for another process that writes {tmp_path}"]
    holder.join()


@pytest.mark.stages
def test_a_lock_that_is_not_freed_ends_in_the_caller_s_sentence(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with held_lock(path, "busy."), pytest.raises(DataError, match="another writes; wait"):
        with held_lock(path, "another writes; wait.", wait_seconds=0.3):
            pass
