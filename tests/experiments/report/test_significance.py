"""Which rows are compared, and what Holm's correction covers."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from experiments.experiment import read_experiment
from experiments.report.significance import compare, query_metrics
from models.evaluation.metrics import METRICS
from models.evaluation.significance import RESOLUTION, randomisation_test
from schemas.errors import DataError
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors

# The comparisons of a table


def test_p_values_are_those_of_means_over_the_seeds_that_both_rows_have(folders: dict[str, Path]) -> None:
    experiment = read_experiment(folders["losses"])
    values = {
        cell.name: {metric: np.array(values) for metric, values in query_metrics(cell).values.items()}
        for cell in experiment.cells
        if cell.status == "done"
    }
    reference, *others = experiment.rows
    uncorrected, differences = {}, {}
    for row in others:
        seeds = {cell.settings["training.seed"] for cell in row.done}
        cells = [
            [cell.name for cell in one.done if cell.settings["training.seed"] in seeds] for one in (row, reference)
        ]
        for metric in METRICS:
            means = [np.mean([values[name][metric] for name in names], axis=0) for names in cells]
            uncorrected[row.label, metric] = randomisation_test(*means, two_sided=True)
            differences[row.label, metric] = means[0].mean() - means[1].mean()
    assert [len(row.done) for row in others] == [2, 3, 2]  # of three seeds
    smallest_first = sorted(uncorrected, key=uncorrected.__getitem__)
    steps = [(len(uncorrected) - place) * uncorrected[key] for place, key in enumerate(smallest_first)]
    expected = {key: min(1, max(steps[: place + 1])) for place, key in enumerate(smallest_first)}
    compared = compare(experiment.rows)
    assert {key: one.p_value for key, one in compared.items()} == pytest.approx(expected)
    assert {key: one.difference for key, one in compared.items()} == pytest.approx(differences)
    assert {key: one.is_bound for key, one in compared.items()} == {
        key: p_value == RESOLUTION for key, p_value in uncorrected.items()
    }


def test_rows_without_a_seed_in_common_are_not_compared(tmp_path: Path) -> None:
    unfinished = {"001-sosl-seed1": ("failed", "x"), "004-mse-seed2": ("waiting", None)}
    folder = write_experiment(tmp_path, {"loss.name": ["sosl", "mse"], "training.seed": [1, 2]}, unfinished)
    assert compare(read_experiment(folder).rows) == {}


def test_rows_with_other_data_are_not_compared(folders: dict[str, Path]) -> None:
    assert compare(read_experiment(folders["negatives"]).rows) == {}


# Cells whose files do not belong together


def test_the_means_of_the_queries_are_the_metrics_of_the_cell(folders: dict[str, Path]) -> None:
    cell = read_experiment(folders["one seed"]).cells[0]
    found = query_metrics(cell)
    assert {metric: np.mean(values) for metric, values in found.values.items()} == cell.metrics
    assert found.query_ids == [f"q{number:03}" for number in range(60)]


def test_metrics_of_another_cell_s_queries_are_an_error(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl", "mse"]})
    shutil.copy(folder / "cells" / "001-sosl" / "per_query.tsv", folder / "cells" / "002-mse" / "per_query.tsv")
    fault = r"002-mse: the mean of \w+ in per_query\.tsv must be that of metrics\.json; got 0\."
    with pytest.raises(DataError, match=fault):
        compare(read_experiment(folder).rows)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("q001\t", "q001\tx", "cannot be read (could not convert string to float: 'x"),
        ("q001\t", "q001", f"cannot be read (line 3 must hold {1 + len(METRICS)} fields; got {len(METRICS)}); run the"),
        ("\tmap\t", "\tmapp\t", "the mean of map in per_query.tsv must be that of metrics.json; got nan"),
    ],
)
def test_a_damaged_file_of_queries_is_named(tmp_path: Path, old: str, new: str, fault: str) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl"]})
    path = folder / "cells" / "001-sosl" / "per_query.tsv"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(DataError, match=re.escape(fault)):
        compare(read_experiment(folder).rows)


def test_a_missing_file_of_queries_is_named(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl"]})
    (folder / "cells" / "001-sosl" / "per_query.tsv").unlink()
    with pytest.raises(DataError, match=r"per_query\.tsv: cannot be read .*; run the experiment again"):
        compare(read_experiment(folder).rows)


def test_cells_with_other_queries_are_an_error(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl", "mse"]})
    path = folder / "cells" / "002-mse" / "per_query.tsv"
    path.write_text(path.read_text().replace("q001", "q999"))
    with pytest.raises(DataError, match=r"002-mse and .*001-sosl: per_query\.tsv must be of the same queries"):
        compare(read_experiment(folder).rows)


def test_cells_with_other_judgments_are_an_error(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl", "mse"]})
    qrels = folder / "cells" / "002-mse" / "qrels.trec"
    qrels.write_text("".join(reversed(qrels.read_text().splitlines(keepends=True))))
    with pytest.raises(DataError, match=r"qrels\.trec must be the same"):
        compare(read_experiment(folder).rows)
