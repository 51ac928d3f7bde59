"""The numbers of Polynomial Semantic Indexing beside ours."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from components.settings import BASELINES
from experiments.experiment import Experiment, read_experiment
from experiments.report.published_psi import PSI_2, PSI_3, PUBLISHED_PSI
from experiments.report.write_report import report_text
from experiments.settings import ExperimentSettings
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors


def of_polynomials(experiment: Experiment) -> Experiment:
    """The experiment as if its cells had the encoder polynomial, of degree 2 and 3, and were beside CL-LSI."""
    cells = []
    for degree, cell in zip((2, 3), experiment.cells, strict=True):
        assert cell.evaluation is not None
        model = {**cell.config["model"], "encoder": "polynomial", "encoder_settings": {"degree": degree}}
        baselines = {**cell.evaluation.baselines, "cl_lsi": dict.fromkeys(cell.metrics, 0.25)}
        evaluation = cell.evaluation.model_copy(update={"baselines": baselines, "parameters": {"cl_lsi": {"dim": 50}}})
        cells.append(replace(cell, config={**cell.config, "model": model}, evaluation=evaluation))
    return replace(experiment, cells=tuple(cells))


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    write_experiment(tmp_path, {"loss.name": ["sosl", "mse"]})
    return of_polynomials(read_experiment(tmp_path))


def test_every_table_may_be_named_and_every_line_is_a_baseline_or_a_degree() -> None:
    (choices, _) = get_args(ExperimentSettings.model_fields["psi_table"].annotation)
    assert {*get_args(choices)} == {*PUBLISHED_PSI}
    assert {one.ours for lines in PUBLISHED_PSI.values() for one in lines} <= {*BASELINES, PSI_2, PSI_3}


def test_lines_stand_beside_baselines_and_rows_of_their_degree(experiment: Experiment) -> None:
    lines = report_text(replace(experiment, psi_table="6")).splitlines()
    (cl_lsi,) = (line for line in lines if line.startswith("| CL-LSI JapEng |"))
    assert cl_lsi == "| CL-LSI JapEng | 9.29 % | 0.190 | 0.161 | CL-LSI | 75.00 % | 0.250 | 0.250 |"
    (psi,) = (line for line in lines if line.startswith("| PSI JapEng"))
    sosl = experiment.cells[0].metrics
    assert f"| SOSL | {100 * (1 - sosl['ordered_pairs']):.2f} % | {sosl['map']:.3f} |" in psi
    assert any(re.match(r"\| LSI \(ATLAS .*\| – \| – \| – \| – \|$", line) for line in lines)  # not evaluated


def test_degree_three_stands_beside_degree_three(experiment: Experiment) -> None:
    text = report_text(replace(experiment, psi_table="1"))
    assert re.search(r"^\| PSI \(k = 2\) \|.* SOSL \|", text, re.MULTILINE)
    assert re.search(r"^\| PSI \(k = 3\) \|.* MSE \|", text, re.MULTILINE)


def test_parameters_of_baselines_are_listed(experiment: Experiment) -> None:
    assert "| CL-LSI | dim 50 |" in report_text(experiment)


def test_they_stay_out_where_no_table_is_named(experiment: Experiment) -> None:
    assert "Bai et al." not in report_text(experiment)
