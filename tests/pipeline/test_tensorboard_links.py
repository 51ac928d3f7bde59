"""TensorBoard's folder: a link by name to each training's run."""

import os
import shutil

import pytest

from pipeline.tensorboard_links import TensorBoardLinks
from schemas.errors import DataError


@pytest.fixture
def run(tmp_path):
    """The folder of a training's run, in the store `tmp_path`."""
    folder = tmp_path / "artifacts" / "Trainer" / "model_run" / "10"
    folder.mkdir(parents=True)
    (folder / "events").write_text("loss")
    return folder


def test_a_run_is_shown_by_its_name_and_number(tmp_path, run):
    for _ in range(2):  # a cached run is shown again
        TensorBoardLinks(tmp_path).show("wiki fr/best-seed1", run)
    (link,) = (tmp_path / "tensorboard").iterdir()
    assert link.name == "wiki_fr_best-seed1-10"
    assert (link / "events").read_text() == "loss"


def test_the_link_is_there_before_the_run_and_stays_where_the_store_is_moved(tmp_path):
    store = tmp_path / "store"
    TensorBoardLinks(store).show("sample-best-seed1", store / "artifacts" / "Trainer" / "model_run" / "10")
    (store / "artifacts" / "Trainer" / "model_run" / "10").mkdir(parents=True)
    (link,) = (shutil.move(store, tmp_path / "moved") / "tensorboard").iterdir()
    assert link.is_dir()


def test_earlier_runs_stay_until_they_are_gone(tmp_path, run):
    other = run.with_name("20")
    other.mkdir()
    for one in (run, other):
        TensorBoardLinks(tmp_path).show("sample-best-seed1", one)
    assert len(os.listdir(tmp_path / "tensorboard")) == 2
    shutil.rmtree(run)
    TensorBoardLinks(tmp_path)
    assert os.listdir(tmp_path / "tensorboard") == ["sample-best-seed1-20"]


def test_the_link_of_earlier_versions_becomes_a_folder_that_shows_their_runs(tmp_path, run):
    (tmp_path / "tensorboard").symlink_to("artifacts/Trainer/model_run")
    other = run.with_name("20")
    TensorBoardLinks(tmp_path).show("sample-best-seed1", other)
    assert set(os.listdir(tmp_path / "tensorboard")) == {"earlier-10", "sample-best-seed1-20"}
    assert os.listdir(tmp_path / "tensorboard" / "earlier-10") == os.listdir(run) == ["events"]


def test_what_is_the_users_stays(tmp_path, run):
    folder = tmp_path / "tensorboard"
    folder.mkdir()
    (folder / "mine").symlink_to(tmp_path / "gone")
    (folder / "sample-best-seed1-10").write_text("notes")
    with pytest.raises(DataError, match=r"sample-best-seed1-10 must be a link that a run made"):
        TensorBoardLinks(tmp_path).show("sample-best-seed1", run)
    assert {path.name for path in folder.iterdir()} == {"mine", "sample-best-seed1-10"}


@pytest.mark.parametrize("make", [lambda path: path.write_text("x"), lambda path: path.symlink_to("elsewhere")])
def test_something_else_of_the_folders_name_is_refused(tmp_path, make):
    make(tmp_path / "tensorboard")
    with pytest.raises(DataError, match=r"tensorboard must be a folder, in which runs make links"):
        TensorBoardLinks(tmp_path)
