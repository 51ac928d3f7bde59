"""pipeline/publishing.py: what a run's stages made, where people look for it."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.layout import CELL_DIGEST_FILE, CELL_FILE, CELL_LOG_FILE, CONFIG_FILE, PUBLISHED, RECORD_FILE
from pipeline.output_folder import OutputFolder

pytestmark = pytest.mark.beam  # imports TFX

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
    from pipeline.publishing import publish

    folder = OutputFolder(tmp_path / "out")
    folder.write(CONFIG_FILE, "settings")
    publish(outputs, folder, is_cell=False)
    assert published(folder.path) == {
        CONFIG_FILE, "data/report.json", "evaluation/metrics.json", "evaluation/run.trec", "evaluation/verdict.json",
        "lexicon/lexicon.tsv", "lexicon/report.json", "training/training.json", "tuning/results.md",
    }  # fmt: skip


def test_a_stage_that_is_not_there_any_more_leaves_nothing(outputs, tmp_path: Path) -> None:
    from pipeline.publishing import publish

    folder = OutputFolder(tmp_path / "out")
    publish(outputs, folder, is_cell=False)
    del outputs["LexiconGen"]
    publish(outputs, folder, is_cell=False)
    assert not (folder.path / "lexicon").exists()
    assert "data/report.json" in published(folder.path)


def test_the_search_of_a_run_is_removed_by_one_without_an_index(outputs, tmp_path: Path) -> None:
    from pipeline.publishing import publish

    folder = OutputFolder(tmp_path / "out")
    publish(outputs | make(tmp_path, SEARCHED), folder, is_cell=False)
    names = {f"evaluation/{name}" for (of_search,) in [SEARCHED.values()] for name in of_search}
    assert names <= published(folder.path)
    assert names <= {*PUBLISHED}
    publish(outputs, folder, is_cell=False)
    assert published(folder.path).isdisjoint(names)
    assert "evaluation/metrics.json" in published(folder.path)


def test_a_cell_s_results_lie_side_by_side_with_what_tells_of_the_cell(outputs, tmp_path: Path) -> None:
    from pipeline.publishing import publish

    folder = OutputFolder(tmp_path / "out", "cell")
    of_the_cell = {CONFIG_FILE, CELL_FILE, CELL_DIGEST_FILE, CELL_LOG_FILE}
    for name in of_the_cell:
        folder.write(name, "text")
    publish(outputs, folder, is_cell=True)
    assert published(folder.path) == of_the_cell | {
        "metrics.json", "run.trec", "verdict.json", "training.json", "tuning/results.md",
    }  # fmt: skip
