"""tools/unseen_documents.py: an experiment on documents that training has not seen."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.metrics import METRICS
from pipeline.layout import CELLS_ARCHIVE
from smooth_clir.experiments.experiment import read_experiment
from smooth_clir.experiments.report.archive import archive, unpacked
from smooth_clir.experiments.report.results import results
from smooth_clir.experiments.report.significance import query_metrics, system_metric
from tests.experiments.experiment_folder import QUERIES, write_experiment
from tools.unseen_documents import fold_of_documents, lists_without, main, pooled, report_text

pytestmark = pytest.mark.tensors

SPLITS = ("train", "train", "train", "eval", "test")


@st.composite
def query_lists(draw: st.DrawFn) -> dict[str, list[tuple[str, int, str]]]:
    """Lists of 20 documents in pairs, of which a query has one as MR document and at times the other as SR document."""
    lists = {}
    for number in range(draw(st.integers(5, 30))):
        relevant = draw(st.integers(0, 19))
        irrelevant = draw(st.sets(st.integers(0, 19), max_size=6)) - {relevant, relevant ^ 1}
        grades = {relevant: 2, **({relevant ^ 1: 1} if draw(st.booleans()) else {}), **dict.fromkeys(irrelevant, 0)}
        split = draw(st.sampled_from(SPLITS))
        lists[f"q{number}"] = [(f"d{document}", grade, split) for document, grade in grades.items()]
    return lists


@given(query_lists(), st.integers(2, 5))
def test_each_test_query_is_ranked_once_by_a_model_that_has_not_seen_its_documents(lists, folds: int) -> None:
    fold_of = fold_of_documents(lists, folds)
    split_of = {query_id: listed[0][2] for query_id, listed in lists.items()}
    tested = []
    for fold in range(folds):
        held_out = {doc_id for doc_id, document_fold in fold_of.items() if document_fold == fold}
        rows = [*lists_without(lists, held_out, top_grade=2)]
        trained = {query_id for query_id, _, _, split in rows if split != "test"}
        assert not held_out & {doc_id for query_id, doc_id, *_ in rows if query_id in trained}
        # Train queries on other folds stay.
        assert trained == {
            query_id
            for query_id, listed in lists.items()
            if split_of[query_id] != "test" and not held_out & {doc_id for doc_id, grade, _ in listed if grade}
        }
        kept = {query_id for query_id, *_ in rows} - trained
        assert all([row[1:] for row in rows if row[0] == query_id] == lists[query_id] for query_id in kept)
        tested += kept
    assert sorted(tested) == sorted(query_id for query_id, split in split_of.items() if split == "test")


def test_the_pooled_experiment_has_the_metrics_of_all_queries_and_a_report(tmp_path: Path) -> None:
    grid = {"loss.kind": ["sosl", "mse"], "training.seed": [1]}
    folds = [read_experiment(write_experiment(tmp_path / name, grid)) for name in ("first", "second")]
    whole = pooled(folds, tmp_path / "pooled")
    for cell, *parts in zip(whole.cells, *(fold.cells for fold in folds), strict=True):
        assert cell.queries == 2 * QUERIES
        for metric in METRICS:
            values = [value for part in parts for value in query_metrics(part).values[metric]]
            assert query_metrics(cell).values[metric] == values
            assert cell.metrics[metric] == pytest.approx(np.mean(values))
        baseline = system_metric(cell, "baseline", "random", "map")
        assert baseline is not None and len(baseline) == 2 * QUERIES
        assert cell.baselines["bm25"]["map"] == pytest.approx(0.4)
    text = report_text(whole, 2)
    assert text.startswith("# Losses on the sample, on unseen documents\n\nCollection: sample")
    assert "2 folds" in text and "| MSE | SOSL |" in text
    assert "epochs: " not in text  # a fold each has its own
    assert "Measured with commit 0123456." in text
    (tmp_path / CELLS_ARCHIVE).write_bytes(archive(whole))
    with unpacked(tmp_path / CELLS_ARCHIVE) as again:
        assert [*results(again)] == [*results(whole)]


def test_a_folder_with_other_files_is_refused_and_stays(tmp_path: Path) -> None:
    experiment, run = tmp_path / "experiment.yaml", tmp_path / "run.yaml"
    experiment.write_text("title: t\nrun: run.yaml\ngrid: {training.seed: [1]}\noutput: out\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.md").write_text("of another experiment")
    for content, output, fault in (
        ("data: {candidates: candidates.tsv}\n", "out", f"{tmp_path / 'out'}: "),
        ("data: {query_language: en}\n", "other", "data.candidates"),
    ):
        run.write_text(content)
        done = CliRunner().invoke(main, [str(experiment), str(tmp_path / output)])
        assert done.exit_code == 1 and fault in done.output
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["of another experiment"]
