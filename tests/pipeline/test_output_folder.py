"""pipeline/output_folder.py: what is ours under an output folder, and what is left alone."""

import os
import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.layout import FILES, FOLDERS, LOCK_FILE, METADATA_FILE, RECORD_FILE
from pipeline.output_folder import OutputFolder, output_fault
from pipeline.stages import PUBLISHED
from schemas.errors import DataError


def files(folder: Path) -> dict[str, str]:
    """Every file under a folder but the record, with its text."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != RECORD_FILE
    }


def check_fault(folder: Path, *shown: str, kind="run") -> None:
    """Checks that a folder cannot be an output, and that the reason shows some texts."""
    fault = output_fault(str(folder), kind)
    assert fault is not None and all(text in fault for text in shown), fault


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
    check_fault(tmp_path, "artifacts and 1 more")
    with pytest.raises(DataError, match=str(tmp_path)):
        OutputFolder(tmp_path)
    assert files(tmp_path) == before


def test_a_record_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / RECORD_FILE).symlink_to(RECORD_FILE)
    check_fault(tmp_path, f"{tmp_path / RECORD_FILE}: Too many levels")


def test_a_folder_of_ours_is_taken_again_wherever_it_was_moved(tmp_path: Path) -> None:
    OutputFolder(tmp_path / "a").write("config.yaml", "one")
    (tmp_path / "a").rename(tmp_path / "b")
    OutputFolder(tmp_path / "b").write("config.yaml", "two")
    assert files(tmp_path / "b") == {"config.yaml": "two"}


@pytest.mark.parametrize(("made", "wanted"), [("run", "experiment"), ("experiment", "run"), ("cell", "run")])
def test_what_one_kind_made_is_not_another_s(tmp_path: Path, made, wanted) -> None:
    OutputFolder(tmp_path / "out", made).write("a", "text")
    check_fault(tmp_path / "out", wanted, made, kind=wanted)


@pytest.mark.parametrize("name", sorted({*FILES, *FOLDERS, *PUBLISHED}))
def test_something_else_with_one_of_our_names_is_named_before_anything_runs(tmp_path: Path, name: str) -> None:
    OutputFolder(tmp_path / "out")
    path = tmp_path / "out" / name
    path.parent.mkdir(exist_ok=True)
    if name in FILES:
        path.unlink(missing_ok=True)
        path.mkdir()
    else:
        path.write_text("theirs")
    check_fault(tmp_path / "out", name)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"made_by": "another"}', '{"made_by": "smooth-clir"}'])
def test_a_damaged_record_makes_a_folder_nobody_s(tmp_path: Path, content: str) -> None:
    OutputFolder(tmp_path / "out").write("config.yaml", "text")
    (tmp_path / "out" / RECORD_FILE).write_text(content)
    check_fault(tmp_path / "out", "1 more")


@pytest.mark.parametrize("sign", "[]*?\\")
def test_signs_of_a_pattern_in_the_path_are_refused(tmp_path: Path, sign: str) -> None:
    check_fault(tmp_path / f"a{sign}b", "[ ] * ? \\")


@pytest.mark.parametrize("size", [488, 489])
def test_a_path_that_is_too_long_for_sqlite_and_no_shorter_one_is_refused(tmp_path: Path, size: int) -> None:
    folder = tmp_path
    while (missing := size - len(str(folder))) > 101:
        folder /= "a" * 50
    folder /= "a" * (missing - 1)
    folder.mkdir(parents=True)
    assert len(str(folder)) == size
    if size == 488:
        assert output_fault(str(folder), "run") is None
    else:
        (tmp_path / "link").symlink_to(folder)
        check_fault(folder, "488", "489")
        check_fault(tmp_path / "link", "488", "489", kind="experiment")
    refusal = pytest.raises(sqlite3.OperationalError) if size == 489 else nullcontext()
    with refusal, closing(sqlite3.connect(folder / METADATA_FILE)) as database:
        database.execute("CREATE TABLE entries (number)")


def test_a_path_on_google_cloud_storage_has_no_fault_and_other_schemes_have(tmp_path: Path) -> None:
    assert output_fault("gs://bucket/out", "run") is None
    fault = output_fault("s3://bucket/out", "run")
    assert fault is not None and "s3://bucket/out" in fault


# What is published


def test_what_is_published_replaces_what_was_published_and_nothing_else(tmp_path: Path) -> None:
    first, second, out = tmp_path / "first", tmp_path / "second", tmp_path / "out"
    for source in (first, second):
        source.write_text(source.name)
    folder = OutputFolder(out)
    folder.write("config.yaml", "settings")
    folder.publish({"evaluation/metrics": first, "tuning/results": first}, keep=["config.yaml"])
    theirs = {"evaluation/notes": "theirs", "mine.txt": "theirs"}
    for name, text in theirs.items():
        (out / name).write_text(text)
    OutputFolder(out).publish({"evaluation/metrics": second}, keep=["config.yaml"])
    assert files(out) == {"config.yaml": "settings", "evaluation/metrics": "second", **theirs}
    assert not (out / "tuning").exists()


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


@given(st.lists(st.tuples(st.sampled_from(["user", "publish", "write"]), st.sets(NAMES)), max_size=5))
def test_no_sequence_of_acts_loses_a_file_of_the_user_s(tmp_path_factory, acts: list[tuple[str, set[str]]]) -> None:
    """The user writes files where there are none, or we write or publish: theirs are all there in the end."""
    top = tmp_path_factory.mktemp("acts")
    source = top / "source"
    source.write_text("ours")
    folder, theirs = OutputFolder(top / "out"), set[str]()
    for act, names in acts:
        if act == "user":
            for name in names:
                path = top / "out" / name
                if not path.exists():
                    path.parent.mkdir(exist_ok=True)
                    path.write_text("theirs")
                    theirs.add(name)
            continue
        refusal = pytest.raises(DataError, match="|".join(names & theirs)) if names & theirs else nullcontext()
        with refusal:
            if act == "publish":
                folder.publish(dict.fromkeys(names, source))
            for name in names if act == "write" else ():
                folder.write(name, "ours")
        assert {name for name, text in files(top / "out").items() if text == "theirs"} == theirs


@pytest.mark.parametrize("name", [RECORD_FILE, "config.yaml", "evaluation/metrics.json"])
def test_a_link_in_the_place_of_a_partial_file_does_not_lead_into_another_file(tmp_path: Path, name: str) -> None:
    theirs, source = tmp_path / "theirs", tmp_path / "source"
    theirs.write_text("years of work")
    source.write_text("new")
    folder = OutputFolder(tmp_path / "out")
    (folder.path / name).parent.mkdir(exist_ok=True)
    (folder.path / f"{name}.partial").symlink_to(theirs)
    if name == RECORD_FILE:
        folder.remove([])
    elif name == "config.yaml":
        folder.write(name, "new")
    else:
        folder.publish({name: source})
    assert theirs.read_text() == "years of work"
    assert (folder.path / name).is_file()
    assert not (folder.path / name).is_symlink()
