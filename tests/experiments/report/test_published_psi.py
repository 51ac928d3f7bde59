"""The numbers of Polynomial Semantic Indexing beside ours."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest

from components.settings import BASELINES
from smooth_clir.experiments.experiment import Experiment
from smooth_clir.experiments.report.published_psi import PSI_2, PSI_3, PUBLISHED_PSI
from smooth_clir.experiments.settings import ExperimentSettings
from tests.experiments.conftest import results_text

pytestmark = pytest.mark.tensors


@pytest.fixture(scope="module")
def experiment(experiment_of: Callable[[str], Experiment]) -> Experiment:
    """An experiment whose cells have the encoder polynomial, of degree 2 and 3, and are beside CL-LSI."""
    cells = []
    for degree, cell in zip((2, 3), experiment_of("one seed").cells, strict=True):
        assert cell.evaluation is not None
        model = {**cell.config["model"], "encoder": "polynomial", "encoder_settings": {"degree": degree}}
        baselines = {**cell.evaluation.baselines, "cl_lsi": dict.fromkeys(cell.metrics, 0.25)}
        evaluation = cell.evaluation.model_copy(update={"baselines": baselines, "parameters": {"cl_lsi": {"dim": 50}}})
        cells.append(replace(cell, config={**cell.config, "model": model}, evaluation=evaluation))
    return replace(experiment_of("one seed"), cells=tuple(cells))


def results_beside(experiment: Experiment, table: str | None = None) -> str:
    return results_text(replace(experiment, psi_table=table))


def test_every_table_may_be_named_and_every_line_is_a_baseline_or_a_degree() -> None:
    (choices, _) = get_args(ExperimentSettings.model_fields["psi_table"].annotation)
    assert {*get_args(choices)} == {*PUBLISHED_PSI}
    assert {one.ours for lines in PUBLISHED_PSI.values() for one in lines} <= {*BASELINES, PSI_2, PSI_3}


def test_lines_stand_beside_baselines_and_rows_of_their_degree(experiment: Experiment) -> None:
    lines = results_beside(experiment, "6").splitlines()
    (cl_lsi,) = (line for line in lines if line.startswith("| CL-LSI JapEng |"))
    assert cl_lsi == "| CL-LSI JapEng | 9.29 % | 0.190 | 0.161 | CL-LSI | 75.00 % | 0.250 | 0.250 |"
    (psi,) = (line for line in lines if line.startswith("| PSI JapEng"))
    sosl = experiment.cells[0].metrics
    assert f"| SOSL | {100 * (1 - sosl['ordered_pairs']):.2f} % | {sosl['map']:.3f} |" in psi
    assert any(re.match(r"\| LSI \(ATLAS .*\| – \| – \| – \| – \|$", line) for line in lines)  # not evaluated
    text = results_beside(experiment, "1")
    assert re.search(r"^\| PSI \(k = 2\) \|.* SOSL \|", text, re.MULTILINE)
    assert re.search(r"^\| PSI \(k = 3\) \|.* softmax \|", text, re.MULTILINE)


def test_parameters_of_baselines_are_listed_and_without_a_table_nothing_published(experiment: Experiment) -> None:
    assert "| CL-LSI | dim 50 |" in results_beside(experiment)
    assert "Bai et al." not in results_beside(experiment)
