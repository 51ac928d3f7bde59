"""pipeline/output_folder.py: what is ours under an output folder, and what is left alone."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.layout import FILES, FOLDERS, LOCK_FILE, METADATA_FILE, PUBLISHED, RECORD_FILE
from pipeline.output_folder import OutputFolder, output_fault, run_lock
from schemas.errors import DataError


def files(folder: Path) -> dict[str, str]:
    """Every file under a folder but the record, with its text."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != RECORD_FILE
    }


@pytest.fixture
def sources(tmp_path: Path) -> Callable[..., dict[str, Path]]:
    """Makes files to publish: name to text."""

    def make(**texts: str) -> dict[str, Path]:
        made = {}
        for number, (name, text) in enumerate(texts.items()):
            made[name.replace("__", "/")] = tmp_path / f"source{number}"
            (tmp_path / f"source{number}").write_text(text)
        return made

    return make


# Whose folder it is


def test_a_missing_an_empty_and_a_locked_folder_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / LOCK_FILE).touch()
    for name in ("missing/below", "empty", "locked"):
        assert output_fault(str(tmp_path / name), "run") is None
        OutputFolder(tmp_path / name)


def test_a_folder_of_the_user_s_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "artifacts" / "paper").mkdir(parents=True)
    (tmp_path / "artifacts" / "paper" / "fig1.svg").write_text("a figure")
    (tmp_path / "config.yaml").write_text("data: theirs")
    before = files(tmp_path)
    fault = output_fault(str(tmp_path), "run")
    assert fault is not None
    assert "must be empty, or the output of an earlier run; it holds artifacts and 1 more" in fault
    with pytest.raises(DataError, match="must be empty"):
        OutputFolder(tmp_path)
    assert files(tmp_path) == before


def test_a_folder_of_ours_is_taken_again_wherever_it_was_moved(tmp_path: Path) -> None:
    OutputFolder(tmp_path / "a").write("config.yaml", "one")
    (tmp_path / "a").rename(tmp_path / "b")
    OutputFolder(tmp_path / "b").write("config.yaml", "two")
    assert files(tmp_path / "b") == {"config.yaml": "two"}


@pytest.mark.parametrize(("one", "other"), [("run", "experiment"), ("experiment", "run"), ("cell", "run")])
def test_what_one_kind_made_is_not_another_s(tmp_path: Path, one: str, other: str) -> None:
    OutputFolder(tmp_path / "out", one).write("a", "text")
    fault = output_fault(str(tmp_path / "out"), other)
    assert fault is not None and f"must be the output of a{'n' * (other == 'experiment')} {other}" in fault


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_the_place_of_a_file_of_ours_is_named(tmp_path: Path, name: str) -> None:
    OutputFolder(tmp_path / "out")
    (tmp_path / "out" / name).unlink(missing_ok=True)
    (tmp_path / "out" / name).mkdir()
    fault = output_fault(str(tmp_path / "out"), "run")
    assert fault is not None and f"must hold nothing named {name}, or a file; it holds a folder" in fault


@pytest.mark.parametrize("name", FOLDERS)
def test_a_file_in_the_place_of_a_folder_of_ours_is_named(tmp_path: Path, name: str) -> None:
    OutputFolder(tmp_path / "out")
    (tmp_path / "out" / name).write_text("theirs")
    fault = output_fault(str(tmp_path / "out"), "run")
    assert fault is not None and f"must hold nothing named {name}, or a folder; it holds a file" in fault


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_file_of_the_user_s_with_the_name_of_a_result_is_named_before_anything_runs(
    tmp_path: Path, name: str
) -> None:
    OutputFolder(tmp_path / "out")
    (tmp_path / "out" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "out" / name).write_text("theirs")
    fault = output_fault(str(tmp_path / "out"), "run")
    assert fault is not None and f"must hold no {name} but one that a run wrote" in fault


@pytest.mark.parametrize("content", ["", "{", "[]", '{"made_by": "another"}', '{"made_by": "smooth-clir"}'])
def test_a_damaged_record_makes_a_folder_nobody_s(tmp_path: Path, content: str) -> None:
    OutputFolder(tmp_path / "out").write("config.yaml", "text")
    (tmp_path / "out" / RECORD_FILE).write_text(content)
    fault = output_fault(str(tmp_path / "out"), "run")
    assert fault is not None and "must be empty, or the output of an earlier run" in fault


@pytest.mark.parametrize("sign", "[]*?\\")
def test_signs_of_a_pattern_in_the_path_are_refused(tmp_path: Path, sign: str) -> None:
    fault = output_fault(str(tmp_path / f"a{sign}b"), "run")
    assert fault is not None and fault.startswith("must hold none of [ ] * ? \\")


def folder_of(size: int, root: Path) -> Path:
    """A folder below another whose path has this many bytes."""
    folder = root
    while len(str(folder)) < size - 201:
        folder /= "a" * 100
    return folder / ("b" * (size - len(str(folder)) - 1))


def test_a_path_that_is_too_long_for_the_metadata_is_refused(tmp_path: Path) -> None:
    assert output_fault(str(folder_of(488, tmp_path)), "run") is None
    folder = folder_of(489, tmp_path)
    fault = output_fault(str(folder), "run")
    assert fault is not None and "must be a path of at most 488 bytes, because SQLite opens no longer one" in fault
    assert "got 489: choose a shorter one." in fault
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    assert output_fault(str(tmp_path / "link"), "experiment") == fault


@pytest.mark.parametrize(("size", "opens"), [(488, True), (489, False)])
def test_sqlite_opens_the_metadata_of_the_longest_output_and_of_no_longer_one(
    tmp_path: Path, size: int, opens: bool
) -> None:
    folder = folder_of(size, tmp_path)
    folder.mkdir(parents=True)
    refusal = pytest.raises(sqlite3.OperationalError, match="unable to open database file")
    with nullcontext() if opens else refusal, closing(sqlite3.connect(folder / METADATA_FILE)) as database:
        database.execute("CREATE TABLE one (column)")


def test_a_path_on_google_cloud_storage_has_no_fault_and_other_schemes_have(tmp_path: Path) -> None:
    assert output_fault("gs://bucket/out", "run") is None
    fault = output_fault("s3://bucket/out", "run")
    assert fault is not None and "must be a local path, or one on Google Cloud Storage" in fault


# What is published


def test_what_is_published_replaces_what_was_published_and_nothing_else(
    tmp_path: Path, sources: Callable[..., dict[str, Path]]
) -> None:
    folder = OutputFolder(tmp_path / "out")
    folder.write("config.yaml", "settings")
    folder.publish(sources(evaluation__metrics="1", tuning__results="1"), keep=["config.yaml"])
    (tmp_path / "out" / "evaluation" / "notes").write_text("theirs")
    (tmp_path / "out" / "mine.txt").write_text("theirs")
    OutputFolder(tmp_path / "out").publish(sources(evaluation__metrics="2"), keep=["config.yaml"])
    assert files(tmp_path / "out") == {
        "config.yaml": "settings", "evaluation/metrics": "2", "evaluation/notes": "theirs", "mine.txt": "theirs",
    }  # fmt: skip
    assert not (tmp_path / "out" / "tuning").exists()


def test_a_file_of_the_user_s_is_never_overwritten(tmp_path: Path, sources: Callable[..., dict[str, Path]]) -> None:
    folder = OutputFolder(tmp_path / "out")
    (tmp_path / "out" / "report.md").write_text("theirs")
    with pytest.raises(DataError, match=r"report.md must be a file that a run wrote; there is another"):
        folder.publish(sources(**{"report.md": "ours"}))
    with pytest.raises(DataError, match="there is another"):
        folder.write("report.md", "ours")
    assert files(tmp_path / "out") == {"report.md": "theirs"}


def test_a_file_is_whole_as_it_was_written(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out")
    folder.write("a", "text")
    assert folder.is_whole(["a"])
    assert not folder.is_whole(["a", "b"])
    (tmp_path / "out" / "a").write_text("TEXT")  # as long as before
    assert not OutputFolder(tmp_path / "out").is_whole(["a"])
    os.remove(tmp_path / "out" / "a")
    assert not folder.is_whole(["a"])


NAMES = st.sampled_from(["a", "b", "f/a", "f/b"])


@given(st.lists(st.tuples(st.booleans(), st.sets(NAMES)), max_size=5))
def test_no_sequence_of_acts_loses_a_file_of_the_user_s(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[bool, set[str]]]
) -> None:
    """The user writes files where there are none, or we publish: theirs are all there in the end."""
    top = tmp_path_factory.mktemp("acts")
    source = top / "source"
    source.write_text("ours")
    folder, theirs = OutputFolder(top / "out"), set[str]()
    for ours, names in acts:
        if not ours:
            for name in names:
                path = top / "out" / name
                if not path.exists():
                    path.parent.mkdir(exist_ok=True)
                    path.write_text("theirs")
                    theirs.add(name)
        elif names & theirs:
            with pytest.raises(DataError):
                folder.publish(dict.fromkeys(names, source))
        else:
            folder.publish(dict.fromkeys(names, source))
        assert {name for name, text in files(top / "out").items() if text == "theirs"} == theirs


HOLD = """
import pathlib, sys, time
from pipeline.output_folder import run_lock

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


def test_a_folder_in_the_place_of_the_lock_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with pytest.raises(DataError, match=r"\.lock must be a file that you can write.*move it away"), run_lock(tmp_path):
        pass


def test_another_user_s_lock_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("builtins.open", refuse)
    with (
        pytest.raises(DataError, match="Permission denied: move it away, or choose another output"),
        run_lock(tmp_path),
    ):
        pass


@pytest.mark.parametrize("name", [".clir.json", "config.yaml", "evaluation/metrics.json"])
def test_a_link_in_the_place_of_a_partial_file_does_not_lead_into_another_file(tmp_path: Path, name: str) -> None:
    theirs, source = tmp_path / "theirs", tmp_path / "source"
    theirs.write_text("years of work")
    source.write_text("new")
    folder = OutputFolder(tmp_path / "out")
    (folder.path / name).parent.mkdir(exist_ok=True)
    (folder.path / f"{name}.partial").symlink_to(theirs)
    if name == ".clir.json":
        folder.remove([])
    elif name == "config.yaml":
        folder.write(name, "new")
    else:
        folder.publish({name: source})
    assert theirs.read_text() == "years of work"
    assert (folder.path / name).is_file()
    assert not (folder.path / name).is_symlink()
