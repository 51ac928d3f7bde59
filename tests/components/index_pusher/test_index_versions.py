"""The versions of an index: each is there whole or not at all, and never changes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.index_pusher.index_versions import IndexVersions, link_files
from schemas.errors import DataError


def add(versions: IndexVersions, content: str) -> Path:
    with versions.writing():
        (versions.begin() / "file").write_text(content)
        return versions.commit()


def test_versions_count_up_and_the_last_two_stay(tmp_path: Path) -> None:
    versions = IndexVersions(tmp_path / "index")
    assert versions.newest() is None
    for number in range(1, 13):
        assert add(versions, str(number)) == versions.newest() == tmp_path / "index" / str(number)
    assert sorted(os.listdir(tmp_path / "index")) == [".lock", "11", "12"]
    assert (tmp_path / "index" / "11" / "file").read_text() == "11"


def test_what_was_begun_and_not_ended_is_no_version_and_does_not_last(tmp_path: Path) -> None:
    versions = IndexVersions(tmp_path)
    with versions.writing():
        (versions.begin() / "half").write_text("")
    assert versions.newest() is None
    version = add(versions, "whole")
    assert os.listdir(version) == ["file"]
    with versions.writing():
        versions.begin()
        versions.discard()
    assert versions.newest() == version


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom components.index_pusher.index_versions import IndexVersions\n"
        "with IndexVersions(sys.argv[1]).writing():\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    with pytest.raises(DataError, match="is being written by another process"), IndexVersions(tmp_path).writing():
        pass
    other.communicate("")
    with IndexVersions(tmp_path).writing():
        pass


@pytest.mark.parametrize("name", ["notes.txt", "007", "saved_model.pb"])
def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(DataError, match=f"an index alone; it holds {name}"), IndexVersions(tmp_path).writing():
        pass
    assert os.listdir(tmp_path) == [name]


def test_files_are_linked_and_copied_where_they_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "inner").mkdir(parents=True)
    (tmp_path / "a" / "inner" / "file").write_text("content")
    link_files(tmp_path / "a", tmp_path / "b")
    assert os.path.samefile(tmp_path / "a" / "inner" / "file", tmp_path / "b" / "inner" / "file")

    def refuse(source: Path, target: Path) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    link_files(tmp_path / "a", tmp_path / "c")
    assert not os.path.samefile(tmp_path / "a" / "inner" / "file", tmp_path / "c" / "inner" / "file")
    assert (tmp_path / "c" / "inner" / "file").read_text() == "content"
