"""The numbered versions of a serving folder: each is whole when it appears, higher than the last, and stays."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import versions
from models.versions import latest_version, place_version, push_version, same_files

NOW = 1_700_000_000

MODEL = {"saved_model.pb": b"graph", "variables/variables.index": b"tables"}
OTHER = {"saved_model.pb": b"another graph", "variables/variables.index": b"tables"}


def write(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def serving(tmp_path: Path) -> Path:
    return tmp_path / "serving"


@pytest.fixture
def push(tmp_path, serving, monkeypatch):
    """Pushes a model of the given files at the time NOW; returns its version."""
    monkeypatch.setattr(versions, "time", SimpleNamespace(time=lambda: NOW + 0.5))
    models = (tmp_path / f"model_{number}" for number in range(9))
    return lambda files=MODEL: push_version(write(next(models), files), str(serving))


# push_version


def test_a_version_s_number_is_the_time_in_seconds(push, serving):
    assert push() == str(NOW)
    assert [path.name for path in serving.iterdir()] == [str(NOW)]  # nothing is left of the staging
    assert contents(serving / str(NOW)) == MODEL


def test_a_second_model_within_the_second_gets_the_next_number(push, serving):
    assert [push(MODEL), push(OTHER)] == [str(NOW), str(NOW + 1)]
    assert (contents(serving / str(NOW)), contents(serving / str(NOW + 1))) == (MODEL, OTHER)


def test_a_clock_set_back_does_not_hide_the_new_version(push, serving):
    write(serving / str(NOW + 3600), OTHER)
    assert push() == str(NOW + 3600 + 1)
    assert contents(serving / str(NOW + 3600)) == OTHER


def test_the_model_that_is_the_latest_version_stays_that(push, serving, monkeypatch):
    first = push()
    monkeypatch.setattr(versions, "time", SimpleNamespace(time=lambda: NOW + 60))
    assert push() == first
    assert [path.name for path in serving.iterdir()] == [first]


def test_a_model_that_is_only_an_older_version_is_pushed_anew(push, serving):
    assert [push(MODEL), push(OTHER), push(MODEL)] == [str(NOW), str(NOW + 1), str(NOW + 2)]
    assert contents(serving / str(NOW)) == contents(serving / str(NOW + 2)) == MODEL


def test_a_version_appears_by_one_rename(push, serving, monkeypatch):
    seen = []

    def rename(source, target):
        seen.append((contents(Path(source)), Path(source).name.isdigit(), Path(target).exists()))
        Path(source).rename(target)

    monkeypatch.setattr(versions.tf.io.gfile, "rename", rename)
    push()
    assert seen == [(MODEL, False, False)]


def test_what_a_killed_push_left_is_removed_and_no_part_of_the_version(push, serving):
    write(serving / ".incoming", {"saved_model.pb": b"half a gra", "variables/shard": b"of another model"})
    assert push() == str(NOW)
    assert contents(serving) == {f"{NOW}/{name}": content for name, content in MODEL.items()}


# latest_version


@pytest.mark.parametrize(
    ("names", "latest"),
    [
        ([], None),
        (["9", "10"], "10"),  # by number, not as words
        (["7", ".incoming", "latest", "8.bak", "-9"], "7"),
        ([".incoming", "notes"], None),
    ],
)
def test_the_latest_version_is_the_highest_number_and_other_names_are_none(serving, names, latest):
    for name in names:
        (serving / name).mkdir(parents=True)
    assert latest_version(str(serving)) == latest


# place_version


def test_a_damaged_version_is_replaced_and_others_stay(tmp_path, serving):
    model = write(tmp_path / "model", MODEL)
    write(serving / "7", {"saved_model.pb": b"gra", "leftover": b"of something"})
    write(serving / "8", OTHER)
    place_version(model, str(serving / "7"))
    assert contents(serving / "7") == contents(Path(model)) == MODEL
    assert contents(serving / "8") == OTHER
    assert sorted(path.name for path in serving.iterdir()) == ["7", "8"]


def test_a_version_is_placed_where_nothing_was_pushed_before(tmp_path, serving):
    place_version(write(tmp_path / "model", MODEL), str(serving / "7"))
    assert contents(serving) == {f"7/{name}": content for name, content in MODEL.items()}


# same_files

FILES = st.dictionaries(st.sampled_from(["a", "b", "c/a", "c/d/a"]), st.binary(max_size=2), max_size=3)


@given(FILES, FILES)
def test_folders_are_the_same_where_names_and_contents_are_and_either_way_round(one, other):
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(Path(folder, name), files) for name, files in (("one", one), ("other", other))]
        assert same_files(*paths) == same_files(*reversed(paths)) == (one == other)
        assert same_files(paths[0], paths[0])


def test_a_difference_in_the_last_byte_of_a_large_file_is_seen(tmp_path):
    large = bytes((1 << 20) + 1)  # more than is read at once
    one, same, other = (
        write(tmp_path / name, {"shard": content})
        for name, content in (("one", large), ("same", large), ("other", large[:-1] + b"\1"))
    )
    assert same_files(one, same)
    assert not same_files(one, other)
