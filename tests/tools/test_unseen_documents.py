"""tools/unseen_documents.py: an experiment on documents that training has not seen."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from experiments.experiment import read_experiment
from experiments.report.significance import baseline_metric, query_metrics
from models.evaluation.metrics import METRICS
from tests.experiments.experiment_folder import QUERIES, write_experiment
from tools.unseen_documents import fold_of_documents, lists_without, main, pooled, report_text

pytestmark = pytest.mark.tensors

SPLITS = ("train", "train", "train", "eval", "test")


@st.composite
def some_lists(draw: st.DrawFn) -> dict[str, list[tuple[str, int, str]]]:
    """Lists of 20 documents in pairs, of which a query has one as MR document and at times the other as SR document."""
    lists = {}
    for number in range(draw(st.integers(5, 30))):
        relevant = draw(st.integers(0, 19))
        others = draw(st.sets(st.integers(0, 19), max_size=6)) - {relevant, relevant ^ 1}
        grades = {relevant: 2, **({relevant ^ 1: 1} if draw(st.booleans()) else {}), **dict.fromkeys(others, 0)}
        split = draw(st.sampled_from(SPLITS))
        lists[f"q{number}"] = [(f"d{place}", grade, split) for place, grade in grades.items()]
    return lists


@given(some_lists(), st.integers(2, 5))
def test_each_test_query_is_ranked_once_by_a_model_that_has_not_seen_its_documents(lists, folds: int) -> None:
    fold_of = fold_of_documents(lists, folds)
    tested = []
    for fold in range(folds):
        held_out = {doc_id for doc_id, of in fold_of.items() if of == fold}
        rows = [*lists_without(lists, held_out, top_grade=2)]
        trained = {doc_id for _, doc_id, _, split in rows if split != "test"}
        assert not trained & held_out
        of_test = {query_id for query_id, _, _, split in rows if split == "test"}
        assert all(
            [(doc_id, grade, split) for other, doc_id, grade, split in rows if other == query_id] == lists[query_id]
            for query_id in of_test
        )
        tested += of_test
    assert sorted(tested) == sorted(query_id for query_id, listed in lists.items() if listed[0][2] == "test")


@given(some_lists())
def test_train_queries_on_other_folds_stay(lists) -> None:
    fold_of = fold_of_documents(lists, 2)
    held_out = {doc_id for doc_id, fold in fold_of.items() if fold == 0}
    rows = [*lists_without(lists, held_out, top_grade=2)]
    kept = {query_id for query_id, _, _, split in rows if split != "test"}
    expected = {
        query_id
        for query_id, listed in lists.items()
        if listed[0][2] != "test" and not held_out & {doc_id for doc_id, grade, _ in listed if grade}
    }
    assert kept == expected


def test_the_pooled_experiment_has_the_metrics_of_all_queries(tmp_path: Path) -> None:
    grid = {"loss.name": ["sosl", "mse"], "training.seed": [1]}
    folds = [read_experiment(write_experiment(tmp_path / name, grid)) for name in ("one", "other")]
    whole = pooled(folds, tmp_path / "pooled")
    for cell, *parts in zip(whole.cells, *(one.cells for one in folds), strict=True):
        assert cell.queries == 2 * QUERIES
        for metric in METRICS:
            values = [one for part in parts for one in query_metrics(part).values[metric]]
            assert query_metrics(cell).values[metric] == values
            assert cell.metrics[metric] == pytest.approx(np.mean(values))
        of_baseline = baseline_metric(cell, "random", "map")
        assert of_baseline is not None and len(of_baseline) == 2 * QUERIES
        assert cell.baselines["bm25"]["map"] == pytest.approx(0.4)


@pytest.mark.stages
def test_the_report_states_its_protocol_and_compares_the_rows(tmp_path: Path) -> None:
    grid = {"loss.name": ["sosl", "mse"], "training.seed": [1]}
    folds = [read_experiment(write_experiment(tmp_path / name, grid)) for name in ("one", "other")]
    text = report_text(pooled(folds, tmp_path / "pooled"), 2)
    assert text.startswith("# Losses on the sample, on unseen documents\n\nCollection: sample")
    assert "2 folds" in text and "| MSE | SOSL |" in text
    assert "epochs: " not in text  # a fold each has its own


def test_a_folder_with_other_files_is_refused_and_stays(tmp_path: Path) -> None:
    run = tmp_path / "run.yaml"
    run.write_text("data: {candidates: candidates.tsv}\n")
    experiment = tmp_path / "experiment.yaml"
    experiment.write_text("title: t\nrun: run.yaml\ngrid: {training.seed: [1]}\noutput: out\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.md").write_text("of another experiment")
    done = CliRunner().invoke(main, [str(experiment), str(tmp_path / "out")])
    assert done.exit_code == 1 and "must be empty, or the folder of earlier folds" in done.output
    assert [one.read_text() for one in (tmp_path / "out").iterdir()] == ["of another experiment"]
    run.write_text("data: {query_language: en}\n")
    done = CliRunner().invoke(main, [str(experiment), str(tmp_path / "other")])
    assert done.exit_code == 1 and "must have fixed lists, data.candidates" in done.output
