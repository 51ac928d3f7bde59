"""pipeline/publishing.py: the outputs of a run's stages are where people look for them."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.layout import CELL_DIGEST_FILE, CELL_FILE, CELL_LOG_FILE, CONFIG_FILE, PUBLISHED, RECORD_FILE
from pipeline.output_folder import OutputFolder
from pipeline.publishing import TensorBoardLinks, publish
from schemas.errors import DataError

pytestmark = pytest.mark.tensors

Outputs = dict[str, dict[str, list[SimpleNamespace]]]

MADE = {
    ("WikiClirExampleGen", "report"): ["report.json"],
    ("TrainingReport", "report"): ["training/training.json", "tuning/results.md"],
    ("LexiconGen", "lexicon"): ["lexicon.tsv", "report.json", "statistics.tsv", "collection.json"],
    ("Evaluator", "evaluation"): ["metrics.json", "run.trec"],
    ("Gate", "blessing"): ["verdict.json", "BLESSED"],
}
SEARCHED = {("SearchEvaluator", "search_evaluation"): ["search.json", "search_per_query.tsv", "search_run.trec"]}


def published(folder: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != RECORD_FILE)
    return {str(path.relative_to(folder)) for path in files}


@pytest.fixture
def outputs(tmp_path: Path) -> Outputs:
    return make(tmp_path, MADE)


def make(tmp_path: Path, files: Mapping[tuple[str, str], list[str]]) -> Outputs:
    made = {}
    for (stage, output), names in files.items():
        for name in names:
            path = tmp_path / "artifacts" / stage / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        made[stage] = {output: [SimpleNamespace(uri=str(tmp_path / "artifacts" / stage))]}
    return made


def test_a_run_s_results_lie_in_folders_beside_its_configuration(outputs, tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out")
    folder.write(CONFIG_FILE, "settings")
    publish(outputs, folder, is_cell=False)
    assert published(folder.path) == {
        CONFIG_FILE, "data/report.json", "evaluation/metrics.json", "evaluation/run.trec", "evaluation/verdict.json",
        "lexicon/lexicon.tsv", "lexicon/report.json", "training/training.json", "tuning/results.md",
    }  # fmt: skip


def test_a_stage_that_is_not_there_any_more_leaves_nothing(outputs, tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out")
    publish(outputs, folder, is_cell=False)
    del outputs["LexiconGen"]
    publish(outputs, folder, is_cell=False)
    assert not (folder.path / "lexicon").exists()
    assert "data/report.json" in published(folder.path)


def test_the_search_of_a_run_is_removed_by_one_without_an_index(outputs, tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out")
    publish(outputs | make(tmp_path, SEARCHED), folder, is_cell=False)
    names = {f"evaluation/{name}" for (of_search,) in [SEARCHED.values()] for name in of_search}
    assert names <= published(folder.path)
    assert names <= {*PUBLISHED}
    publish(outputs, folder, is_cell=False)
    assert published(folder.path).isdisjoint(names)
    assert "evaluation/metrics.json" in published(folder.path)


def test_a_cell_s_results_lie_side_by_side_with_what_tells_of_the_cell(outputs, tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out", "cell")
    of_the_cell = {CONFIG_FILE, CELL_FILE, CELL_DIGEST_FILE, CELL_LOG_FILE}
    for name in of_the_cell:
        folder.write(name, "text")
    publish(outputs, folder, is_cell=True)
    assert published(folder.path) == of_the_cell | {
        "metrics.json", "run.trec", "verdict.json", "training.json", "tuning/results.md",
    }  # fmt: skip


# TensorBoard's links


def training(run):
    """The outputs of a training with a run."""
    return {"model_run": [SimpleNamespace(uri=str(run))]}


@pytest.fixture
def run(tmp_path):
    """The folder of a training's run, in the store `tmp_path`."""
    folder = tmp_path / "artifacts" / "Trainer" / "model_run" / "10"
    folder.mkdir(parents=True)
    (folder / "events").write_text("loss")
    return folder


def test_a_run_is_shown_by_its_name_and_number(tmp_path, run):
    for _ in range(2):  # a cached run is shown again
        TensorBoardLinks(tmp_path).show("wiki fr/best-seed1", training(run))
    (link,) = (tmp_path / "tensorboard").iterdir()
    assert link.name == "wiki_fr_best-seed1-10"
    assert (link / "events").read_text() == "loss"


@pytest.mark.parametrize("letter", "aé文")
def test_a_collection_s_folder_may_have_the_longest_name(tmp_path, run, letter):
    TensorBoardLinks(tmp_path).show(f"{letter * (250 // len(letter.encode()))}-paper-seed1", training(run))
    (link,) = (tmp_path / "tensorboard").iterdir()
    assert link.name == f"{letter * (200 // len(letter.encode()))}-10"
    assert (link / "events").is_file()


def test_a_search_is_shown_beside_its_training(tmp_path, run):
    search = tmp_path / "artifacts" / "Tuner" / "tuner_results" / "9"
    links = TensorBoardLinks(tmp_path)
    links.show("sample-best-seed1-search", {"best_hyperparameters": [], "tuner_results": [SimpleNamespace(uri=search)]})
    links.show("sample-best-seed1", training(run))
    assert sorted(os.listdir(tmp_path / "tensorboard")) == ["sample-best-seed1-10", "sample-best-seed1-search-9"]


def test_the_link_is_there_before_the_run_and_stays_where_the_store_is_moved(tmp_path):
    store = tmp_path / "store"
    TensorBoardLinks(store).show("sample-best-seed1", training(store / "artifacts" / "Trainer" / "model_run" / "10"))
    (store / "artifacts" / "Trainer" / "model_run" / "10").mkdir(parents=True)
    (link,) = (shutil.move(store, tmp_path / "moved") / "tensorboard").iterdir()
    assert link.is_dir()


def test_earlier_runs_stay_until_they_are_gone(tmp_path, run):
    other = run.with_name("20")
    other.mkdir()
    for one in (run, other):
        TensorBoardLinks(tmp_path).show("sample-best-seed1", training(one))
    assert len(os.listdir(tmp_path / "tensorboard")) == 2
    shutil.rmtree(run)
    TensorBoardLinks(tmp_path)
    assert os.listdir(tmp_path / "tensorboard") == ["sample-best-seed1-20"]


def test_what_is_the_users_stays(tmp_path, run):
    folder = tmp_path / "tensorboard"
    folder.mkdir()
    (folder / "mine").symlink_to(tmp_path / "gone")
    (folder / "sample-best-seed1-10").write_text("notes")
    with pytest.raises(DataError, match=r"sample-best-seed1-10 must be a link that a run made"):
        TensorBoardLinks(tmp_path).show("sample-best-seed1", training(run))
    assert {path.name for path in folder.iterdir()} == {"mine", "sample-best-seed1-10"}


@pytest.mark.parametrize("make", [lambda path: path.write_text("x"), lambda path: path.symlink_to("elsewhere")])
def test_something_else_of_the_folders_name_is_refused(tmp_path, make):
    make(tmp_path / "tensorboard")
    with pytest.raises(DataError, match=r"tensorboard must be a folder, in which runs make links"):
        TensorBoardLinks(tmp_path)
