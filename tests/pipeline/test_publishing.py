"""pipeline/publishing.py: the outputs of a run's stages are where people look for them."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.layout import CELL_DIGEST_FILE, CELL_FILE, CELL_LOG_FILE, CONFIG_FILE, RECORD_FILE
from pipeline.output_folder import OutputFolder
from pipeline.publishing import TensorBoardLinks, publish
from pipeline.stages import PUBLISHED
from schemas.errors import DataError

pytestmark = pytest.mark.tensors

MADE = {
    ("WikipediaGen", "wikiclir_files"): ["wiki_en.queries"],
    ("WikiClirExampleGen", "report"): ["report.json"],
    ("TrainingReport", "report"): ["training/training.json", "tuning/results.md"],
    ("LexiconGen", "lexicon"): [
        "lexicon.tsv", "report.json", "statistics.tsv", "collection.json", "words.tsv", "without/news/lexicon.tsv",
    ],
    ("Evaluator", "evaluation"): ["metrics.json", "run.trec"],
    ("Gate", "blessing"): ["verdict.json", "BLESSED"],
    ("SearchEvaluator", "search_evaluation"): ["search.json", "search_per_query.tsv", "search_run.trec"],
}  # fmt: skip
SEARCH = {f"evaluation/{name}" for name in MADE["SearchEvaluator", "search_evaluation"]}
RESULTS = {
    "wikipedia/wiki_en.queries", "data/report.json", "evaluation/metrics.json", "evaluation/run.trec",
    "evaluation/verdict.json", "lexicon/lexicon.tsv", "lexicon/report.json", "training/training.json",
    "tuning/results.md",
}  # fmt: skip
KEPT = {CONFIG_FILE, CELL_FILE, CELL_DIGEST_FILE, CELL_LOG_FILE}


def published(folder: OutputFolder) -> set[str]:
    files = (path for path in folder.path.rglob("*") if path.is_file() and path.name != RECORD_FILE)
    return {str(path.relative_to(folder.path)) for path in files}


@pytest.fixture
def outputs(tmp_path: Path) -> Mapping[str, Mapping[str, list[SimpleNamespace]]]:
    """The outputs of all stages whose files are published."""
    made = {}
    for (stage, output), names in MADE.items():
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
    assert published(folder) == {CONFIG_FILE, *RESULTS, *SEARCH}
    assert SEARCH <= {*PUBLISHED}


@pytest.mark.parametrize(
    ("stage", "removed"), [("SearchEvaluator", SEARCH), ("LexiconGen", {"lexicon/lexicon.tsv", "lexicon/report.json"})]
)
def test_a_stage_that_is_not_there_any_more_leaves_nothing(outputs, tmp_path: Path, stage: str, removed) -> None:
    folder = OutputFolder(tmp_path / "out")
    publish(outputs, folder, is_cell=False)
    publish({name: made for name, made in outputs.items() if name != stage}, folder, is_cell=False)
    assert published(folder) == (RESULTS | SEARCH) - removed
    assert (folder.path / "lexicon").exists() == (stage != "LexiconGen")


def test_a_cell_s_results_lie_side_by_side_with_what_tells_of_the_cell(outputs, tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out", "cell")
    for name in KEPT:
        folder.write(name, "text")
    del outputs["SearchEvaluator"]
    publish(outputs, folder, is_cell=True)
    assert published(folder) == KEPT | {
        "metrics.json",
        "run.trec",
        "verdict.json",
        "training.json",
        "tuning/results.md",
    }


# TensorBoard's links


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a training's run, in the store `tmp_path`."""
    folder = tmp_path / "artifacts" / "Trainer" / "model_run" / "10"
    folder.mkdir(parents=True)
    (folder / "events").write_text("loss")
    return folder


def show(store: Path, name: str, run: Path, output: str = "model_run") -> None:
    """Shows a run in a store."""
    TensorBoardLinks(store).show(name, {"best_hyperparameters": [], output: [SimpleNamespace(uri=str(run))]})


def links(store: Path) -> list[str]:
    return sorted(os.listdir(store / "tensorboard"))


@pytest.mark.parametrize("letter", "aé文")
def test_a_run_is_shown_by_its_name_in_a_file_s_length_and_its_number(tmp_path: Path, run: Path, letter: str) -> None:
    size = len(letter.encode())
    for name in 2 * ["wiki fr/best-seed1", letter * (250 // size)]:  # a cached run is shown again
        show(tmp_path, name, run)
    assert links(tmp_path) == sorted(["wiki_fr_best-seed1-10", f"{letter * (200 // size)}-10"])
    assert {(tmp_path / "tensorboard" / name / "events").read_text() for name in links(tmp_path)} == {"loss"}


def test_searches_and_earlier_runs_are_shown_until_they_are_gone(tmp_path: Path, run: Path) -> None:
    search = tmp_path / "artifacts" / "Tuner" / "tuner_results" / "9"
    search.mkdir(parents=True)
    show(tmp_path, "search", search, "tuner_results")
    show(tmp_path, "sample", run)
    show(tmp_path, "sample", run.with_name("20"))  # it is not there yet
    assert links(tmp_path) == ["sample-10", "sample-20", "search-9"]
    store = tmp_path.rename(tmp_path.with_name("moved"))
    TensorBoardLinks(store)
    assert links(store) == ["sample-10", "search-9"]
    assert (store / "tensorboard" / "sample-10" / "events").is_file()


def test_what_is_the_user_s_stays(tmp_path: Path, run: Path) -> None:
    folder = tmp_path / "tensorboard"
    folder.mkdir()
    (folder / "mine").symlink_to(tmp_path / "gone")
    (folder / "sample-10").write_text("notes")
    with pytest.raises(DataError, match="sample-10"):
        show(tmp_path, "sample", run)
    assert {path.name for path in folder.iterdir()} == {"mine", "sample-10"}


@pytest.mark.parametrize("make", [lambda path: path.write_text("x"), lambda path: path.symlink_to("elsewhere")])
def test_something_else_of_the_folder_s_name_is_refused(tmp_path: Path, make) -> None:
    make(tmp_path / "tensorboard")
    with pytest.raises(DataError, match="tensorboard"):
        TensorBoardLinks(tmp_path)
