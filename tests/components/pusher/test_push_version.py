"""A model in a serving folder: a version that is whole when it appears, higher than the newest, and stays."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.pusher import push_version as module
from components.pusher.push_version import push_version, renew_card

pytestmark = pytest.mark.tensors

EXPORTED = 1_700_000_000
MODEL = {"saved_model.pb": b"graph", "variables/variables.index": b"tables"}
BESIDE = {"MODEL_CARD.md": b"# Model card", "assets.extra/requests": b"\0\1"}
PUSHED = {**MODEL, **BESIDE}
OTHER = {"saved_model.pb": b"another graph", "variables/variables.index": b"tables"}


def write(folder: Path, files: dict[str, bytes], exported: float = EXPORTED) -> str:
    """Writes a model's files, the graph of which was exported at a time, the others some days later."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        time = exported if name == "saved_model.pb" else exported + 1e5
        os.utime(folder / name, (time, time))
    return str(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def model(tmp_path: Path) -> str:
    return write(tmp_path / "model", MODEL, EXPORTED + 0.5)


@pytest.fixture
def serving(tmp_path: Path) -> Path:
    return tmp_path / "serving"


@given(st.integers(1, 2**33), st.one_of(st.none(), st.integers(0, 2**33)))
def test_a_version_is_no_older_than_the_export_and_newer_than_the_newest(exported, newest):
    with tempfile.TemporaryDirectory() as folder:
        model, serving = write(Path(folder, "model"), MODEL, exported), Path(folder, "serving")
        version = int(push_version(model, str(serving), None if newest is None else str(newest), BESIDE))
        assert version == (exported if newest is None or newest < exported else newest + 1)
        assert contents(serving / str(version)) == PUSHED


def test_other_versions_stay_and_a_deleted_one_comes_back_under_its_own_number(model, serving):
    first = push_version(model, str(serving), None, BESIDE)
    assert [path.name for path in serving.iterdir()] == [first]  # nothing is left of the staging
    shutil.rmtree(serving / first)
    # What a killed push left.
    write(serving / ".incoming", {"saved_model.pb": b"half a gra", "variables/shard": b"of another model"})
    assert push_version(model, str(serving), None, BESIDE) == first == str(EXPORTED)
    assert contents(serving) == {f"{first}/{name}": content for name, content in PUSHED.items()}
    write(serving / str(EXPORTED + 3600), OTHER)
    assert push_version(model, str(serving), str(EXPORTED + 3600), BESIDE) == str(EXPORTED + 3600 + 1)
    assert contents(serving / str(EXPORTED + 3600)) == OTHER


def test_a_version_appears_by_one_rename(model, serving, monkeypatch):
    seen = []

    def rename(source, target):
        seen.append((contents(Path(source)), Path(source).name.isdigit(), Path(target).exists()))
        Path(source).rename(target)

    monkeypatch.setattr(module.tf.io.gfile, "rename", rename)
    push_version(model, str(serving), None, BESIDE)
    assert seen == [(PUSHED, False, False)]


def test_a_link_in_the_place_of_the_staging_is_not_followed(model, serving, tmp_path):
    theirs = {"photo": b"of a wedding", "notes": b"of years"}
    write(tmp_path / "theirs", theirs)
    serving.mkdir()
    (serving / ".incoming").symlink_to(tmp_path / "theirs")
    version = push_version(model, str(serving), None, BESIDE)
    (serving / ".incoming.md").symlink_to(tmp_path / "theirs" / "notes")
    renew_card(str(serving), version, "# Another card")
    assert contents(tmp_path / "theirs") == theirs
    assert contents(serving / version) == {**PUSHED, "MODEL_CARD.md": b"# Another card"}
