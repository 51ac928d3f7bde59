"""Which rows are compared, and what Holm's correction covers."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.evaluation.metrics import METRICS
from models.evaluation.significance import RESOLUTION, randomisation_test
from schemas.errors import DataError
from smooth_clir.experiments.experiment import Experiment
from smooth_clir.experiments.report.significance import compare, query_metrics

pytestmark = pytest.mark.tensors

ExperimentOf = Callable[[str], Experiment]


def test_p_values_are_those_of_means_over_the_seeds_that_both_rows_have(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("losses")
    reference, *rows = experiment.rows
    assert [len(row.done) for row in rows] == [2, 3, 2]  # of three seeds
    uncorrected, differences = {}, {}
    for row in rows:
        seeds = {cell.settings["training.seed"] for cell in row.done}
        values = [
            [query_metrics(cell).values for cell in compared.done if cell.settings["training.seed"] in seeds]
            for compared in (row, reference)
        ]
        for metric in METRICS:
            means = [np.mean([cell_values[metric] for cell_values in row_values], axis=0) for row_values in values]
            uncorrected[row.label, metric] = randomisation_test(*means, two_sided=True)
            differences[row.label, metric] = means[0].mean() - means[1].mean()
    smallest_first = sorted(uncorrected, key=uncorrected.__getitem__)
    steps = [(len(uncorrected) - rank) * uncorrected[key] for rank, key in enumerate(smallest_first)]
    expected = {key: min(1, max(steps[: rank + 1])) for rank, key in enumerate(smallest_first)}
    comparisons = compare(experiment.rows)
    assert {key: comparison.p_value for key, comparison in comparisons.items()} == pytest.approx(expected)
    assert {key: comparison.difference for key, comparison in comparisons.items()} == pytest.approx(differences)
    bounds = {key: p_value == RESOLUTION for key, p_value in uncorrected.items()}
    assert {key: comparison.is_bound for key, comparison in comparisons.items()} == bounds


def test_rows_with_other_data_or_without_a_seed_in_common_are_not_compared(experiment_of: ExperimentOf) -> None:
    assert compare(experiment_of("negatives").rows) == {}
    first, second, *_ = experiment_of("losses").rows
    second = replace(second, cells=(*(replace(cell, status="failed") for cell in second.cells[:2]), second.cells[2]))
    assert compare([replace(first, cells=first.cells[:2]), second]) == {}


def test_the_means_of_the_queries_are_the_metrics_of_the_cell(experiment_of: ExperimentOf) -> None:
    cell = experiment_of("one seed").cells[0]
    assert {metric: np.mean(values) for metric, values in query_metrics(cell).values.items()} == cell.metrics
    assert query_metrics(cell).query_ids == [f"q{number:03}" for number in range(60)]


# Cells whose files do not belong together


def reversed_lines(text: str) -> str:
    return "".join(reversed(text.splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("file", "change", "fault"),
    [
        # The metrics of another cell's queries, damaged lines, a metric less, no file, other queries, other judgments.
        (
            "per_query.tsv",
            None,
            r"002-softmax: the mean of \w+ must be the same in per_query\.tsv and metrics\.json; got 0\.",
        ),
        ("per_query.tsv", lambda text: text.replace("q001\t", "q001\tx"), r"per_query\.tsv .*'x"),
        (
            "per_query.tsv",
            lambda text: text.replace("q001\t", "q001"),
            rf"line 3 .* {1 + len(METRICS)} .*{len(METRICS)}",
        ),
        (
            "per_query.tsv",
            lambda text: text.replace("\tmap\t", "\tmapp\t"),
            r"mean of map must be the same in per_query\.tsv .* nan",
        ),
        (
            "per_query.tsv",
            lambda text: text.replace("q001", "q999"),
            r"001-sosl and .*002-softmax|002-softmax and .*001",
        ),
        ("qrels.trec", reversed_lines, r"qrels\.trec must be the same"),
    ],
)
def test_files_that_do_not_belong_together_are_named(
    experiment_of: ExperimentOf, tmp_path: Path, file: str, change: Callable[[str], str] | None, fault: str
) -> None:
    experiment = experiment_of("one seed")
    sosl, softmax = experiment.cells
    folder = shutil.copytree(softmax.folder, tmp_path / softmax.name)
    text = (folder / file).read_text()
    (folder / file).write_text(change(text) if change else (sosl.folder / file).read_text())
    with pytest.raises(DataError, match=fault):
        compare(replace(experiment, cells=(sosl, replace(softmax, folder=folder))).rows)
    (folder / file).unlink()
    if file == "per_query.tsv":
        with pytest.raises(DataError, match=rf"Cannot read .*{file}"):
            query_metrics(replace(softmax, folder=folder))
