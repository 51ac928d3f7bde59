"""The versions of an index: each is there whole or not at all, and never changes."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE, SEGMENTS
from smooth_clir.retrieval.index_versions import IndexVersions, link_files

pytestmark = pytest.mark.tensors


def add(versions: IndexVersions, content: str = "whole") -> Path:
    with versions.writing():
        folder = versions.begin()
        (folder / MANIFEST_FILE).write_text(content)
        return versions.commit()


def test_versions_count_up_and_the_last_two_stay(tmp_path: Path) -> None:
    versions = IndexVersions(tmp_path / "index")
    assert versions.newest() is None
    for number in range(1, 13):
        assert add(versions, str(number)) == versions.newest() == tmp_path / "index" / str(number)
    assert sorted(os.listdir(tmp_path / "index")) == [".lock", "11", "12"]
    assert (tmp_path / "index" / "11" / MANIFEST_FILE).read_text() == "11"


def test_a_version_that_was_begun_and_not_committed_does_not_last(tmp_path: Path) -> None:
    versions = IndexVersions(tmp_path)
    with versions.writing():
        (versions.begin() / "half").write_text("")
    assert versions.newest() is None
    assert os.listdir(tmp_path) == [".lock"]
    (tmp_path / ".incoming").mkdir()  # of a killed process
    (tmp_path / ".incoming" / "half").write_text("")
    version = add(versions)
    with pytest.raises(OSError, match="No space left"), versions.writing():
        (versions.begin() / "gigabytes").write_text("")
        raise OSError("No space left on device")
    assert sorted(os.listdir(tmp_path)) == [".lock", "1"]
    assert (versions.newest(), os.listdir(version)) == (version, [MANIFEST_FILE])


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with IndexVersions(tmp_path).writing():
        with pytest.raises(DataError, match="another process"), IndexVersions(tmp_path).writing():
            pass
    with IndexVersions(tmp_path).writing():
        pass


@pytest.mark.parametrize("name", ["notes.txt", "007", "saved_model.pb", "2021/beach.jpg", "1700000000/saved_model.pb"])
def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    for year in ("2019", "2020", ".incoming"):
        (tmp_path / year).mkdir()
    before = sorted(os.listdir(tmp_path))
    versions = IndexVersions(tmp_path)
    with pytest.raises(DataError, match="must hold only an index"), versions.writing():
        pass
    assert sorted(os.listdir(tmp_path)) == before
    assert versions.newest() is None


def test_files_are_linked_and_copied_where_they_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError

    file = tmp_path / "a" / "inner" / "file"
    file.parent.mkdir(parents=True)
    file.write_text("content")
    link_files(tmp_path / "a", tmp_path / "b")
    monkeypatch.setattr(os, "link", refuse)
    link_files(tmp_path / "a", tmp_path / "c")
    linked, copied = (tmp_path / name / "inner" / "file" for name in "bc")
    assert (os.path.samefile(file, linked), os.path.samefile(file, copied)) == (True, False)
    assert copied.read_text() == "content"


def test_a_version_whose_manifest_was_lost_is_not_passed_over(tmp_path: Path) -> None:
    versions = IndexVersions(tmp_path)
    add(versions)
    version = add(versions)
    (version / SEGMENTS).mkdir()
    (version / MANIFEST_FILE).unlink()
    assert versions.newest() == version
    assert [add(versions).name, add(versions).name] == ["3", "4"]
    assert sorted(os.listdir(tmp_path)) == [".lock", "2", "3", "4"]  # what has no manifest is removed by no one


def test_an_old_version_goes_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = IndexVersions(tmp_path)
    add(versions)
    add(versions)
    (tmp_path / "1" / "vectors.faiss").write_text("")

    def killed(folder: Path, **_: object) -> None:
        if (folder / MANIFEST_FILE).exists():
            (folder / MANIFEST_FILE).unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "rmtree", killed)
        add(versions)
    assert versions.newest() == tmp_path / "3"
    add(versions)  # a part of version 1 would be the folder of somebody else
    assert sorted(os.listdir(tmp_path)) == [".lock", "3", "4"]


@pytest.mark.parametrize("make", [lambda path, target: path.symlink_to(target), lambda path, _: path.write_text("")])
def test_a_link_in_the_place_of_a_begun_version_is_not_followed(
    tmp_path: Path, make: Callable[[Path, Path], object]
) -> None:
    foreign = tmp_path / "theirs"
    foreign.mkdir()
    (foreign / "photo").write_text("")
    (tmp_path / "index").mkdir()
    make(tmp_path / "index" / ".incoming", foreign)
    assert add(IndexVersions(tmp_path / "index")).name == "1"
    assert os.listdir(foreign) == ["photo"]
